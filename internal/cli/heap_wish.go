package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/sample"
)

// heapWish says when heaps are captured.
type heapWish struct {
	peak, kill, exit bool
	every            time.Duration // 0: not
	byDefault        bool          // nobody asked: it may cost next to nothing and is not told of
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
	// lateBy is how much later a run may end for what is still thought about.
	lateBy = 500 * time.Millisecond
	// quietMemory is what one capture may take of our memory, at most two at once.
	quietMemory = 512 * sample.MiB
	// quietGrowth is the part by which a peak must exceed the one that was captured
	// before, quietShare the part of the time that may be spent thinking about them.
	quietGrowth = 2
	quietShare  = 20
	// quietFirst is how long after the first look a living heap is captured for the first time on the calm
	// rhythm; each interval is half as long again as the one before.
	quietFirst = time.Second
)

// none: never.
func (w heapWish) none() bool { return w == heapWish{} }

// memory is what one capture may take.
func (w heapWish) memory() sample.Bytes {
	if w.byDefault {
		return min(quietMemory, ownLimit())
	}
	return ownLimit()
}

// stop bounds the stop of a living program.
func (w heapWish) stop() time.Duration {
	if w.byDefault {
		return quietStop
	}
	return heapStop
}

// heapWishFlag is run's and watch's flag as given.
type heapWishFlag struct {
	when    []string
	unasked heapWish // where it is not given
}

// add adds the flag; without it the program's heap is captured at its end, and with peaks
// at some of these, too.
func (f *heapWishFlag) add(c *cobra.Command, peaks bool) {
	f.unasked = heapWish{kill: true, exit: true, peak: peaks, byDefault: true}
	c.Flags().StringSliceVar(&f.when, "heap", nil, "capture the objects of the heap, with who retains them, at each new `peak`, at the kill, at the exit, or every=30s; the program pauses briefly. Several with commas; off: never (default: at its end, and at peaks that are cheap)")
}

// plan reads it: "peak", "kill", "exit", "every=30s", several with commas, or "off".
func (f heapWishFlag) plan() (w heapWish, err error) {
	if len(f.when) == 0 {
		return f.unasked, nil
	}
	if off := slices.ContainsFunc(f.when, isOff); off {
		if len(f.when) > 1 {
			return w, usagef("--heap off, or leave off out", "--heap off captures nothing, so no other time can go with it")
		}
		return w, nil
	}
	for _, s := range f.when {
		switch name, value, ok := strings.Cut(s, "="); {
		case s == "peak":
			w.peak = true
		case s == "kill":
			w.kill = true
		case s == "exit":
			w.exit = true
		case name == "every" && ok:
			if w.every, err = time.ParseDuration(value); err != nil || w.every < time.Second {
				return w, usagef("--heap every=30s", "--heap every=%s is not a duration of a second or more", value)
			}
		default:
			return w, usagef("--heap kill, --heap exit, --heap peak, --heap every=30s, several with commas, or --heap off", "--heap %s is not known", s)
		}
	}
	return w, nil
}

func isOff(s string) bool { return s == "off" || s == "none" }
