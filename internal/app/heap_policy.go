package app

import (
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// HeapPolicy says when heaps are captured.
type HeapPolicy struct {
	Peak, Kill, Exit bool
	every            time.Duration // 0: not
	ByDefault        bool          // nobody asked: it may cost next to nothing and is not told of
}

// What captures that nobody asked for may cost.
const (
	// smallHeap is what a heap must have in use to be captured: who holds less explains no
	// peak.
	smallHeap = 4 * sample.MiB
	// quietStop bounds the stop of a living program, killStop and exitStop how much longer
	// one that ends is held.
	quietStop = 50 * time.Millisecond
	killStop  = 500 * time.Millisecond
	exitStop  = 200 * time.Millisecond
	// lateBy is how much later a run may end for what is still analyzed: on a machine that others use, what takes
	// 200 ms elsewhere.
	lateBy = 2 * time.Second
	// quietMemory is what one capture may take of our memory, at most two at once.
	quietMemory = 512 * sample.MiB
	// quietGrowth is the part by which a peak must exceed the one that was captured
	// before, quietShare the part of the time that may be spent on analyzing them.
	quietGrowth = 2
	quietShare  = 20
	// quietFirst is how long after the first look a living heap is captured for the first time on the calm
	// rhythm; each interval is half as long again as the one before.
	quietFirst = time.Second
)

// none reports whether no heap is ever captured.
func (w HeapPolicy) none() bool { return w == HeapPolicy{} }

// memory is what one capture may take.
func (w HeapPolicy) memory() sample.Bytes {
	if w.ByDefault {
		return min(quietMemory, ownLimit())
	}
	return ownLimit()
}

// stop bounds the stop of a living program.
func (w HeapPolicy) stop() time.Duration {
	if w.ByDefault {
		return quietStop
	}
	return heapStop
}

// HeapPolicyFlag is run's and watch's flag as given.
type HeapPolicyFlag struct {
	When    []string
	Unasked HeapPolicy // where it is not given
}

// plan reads it: "peak", "kill", "exit", "every=30s", several with commas, or "off".
func (f HeapPolicyFlag) plan() (w HeapPolicy, err error) {
	if len(f.When) == 0 {
		return f.Unasked, nil
	}
	if off := slices.ContainsFunc(f.When, isOff); off {
		if len(f.When) > 1 {
			return w, Usagef("--heap off, or leave off out", "--heap off captures nothing, so no other time can go with it")
		}
		return w, nil
	}
	for _, s := range f.When {
		switch name, value, ok := strings.Cut(s, "="); {
		case s == "peak":
			w.Peak = true
		case s == "kill":
			w.Kill = true
		case s == "exit":
			w.Exit = true
		case name == "every" && ok:
			if w.every, err = time.ParseDuration(value); err != nil || w.every < time.Second {
				return w, Usagef("--heap every=30s", "--heap every=%s is not a duration of a second or more", value)
			}
		default:
			return w, Usagef("--heap kill, --heap exit, --heap peak, --heap every=30s, several with commas, or --heap off", "--heap %s is not known", s)
		}
	}
	return w, nil
}

func isOff(s string) bool { return s == "off" || s == "none" }
