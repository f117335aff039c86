package pacer

import (
	"sort"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// History is what a recording says of one process's heap, laid out along the
// clock of allocated bytes.
type History struct {
	Program  sample.Program
	Setting  Setting // in force when it ended
	Recorded recorded

	began  int64             // UTC nanoseconds of the first sample
	seen   *recording.Series // while it is loaded: of the columns above
	ticks  []tick
	marks  []mark
	forced []float64 // clocks at which the program asked for a collection

	rest    float64 // greatest charge that is not the process's own anonymous memory, nor page cache
	limit   float64 // of the cgroup; 0: none
	cpus    int
	killed  bool
	ended   bool  // the program ended by itself, or its load did: the work is all there was
	begins  bool  // the process was seen from its start, or soon after
	changed int   // how often GOGC or GOMEMLIMIT were changed
	held    *knot // what a mark at its death found
}

// recorded is what the replay must bring out again.
type recorded struct {
	Peak   float64 // greatest heap in use
	GCs    int
	Forced int
	Anon   float64 // greatest anonymous resident set
}

// tick is a sample: the clock and what belonged to it.
type tick struct {
	at                          float64 // seconds since the first
	alloc                       float64 // the clock: bytes allocated so far
	heap                        float64 // allocated and not yet swept
	live, marked, goal, trigger float64
	ready, free                 float64 // mapped by Go; of it free
	anon, shared                float64 // resident
	cpu, gc                     float64 // seconds
	gcs, forced                 int
	marking                     bool
	gogc                        int32
	memoryLimit                 int64
}

// nonHeap is what a memory limit counts beside objects.
func (t tick) nonHeap() float64 { return max(0, t.ready-t.free-t.heap) }

// mostForced bounds the collections that a program is believed to have asked for: one
// takes a tenth of a millisecond at the least, and a replay as much for each.
const mostForced = 1 << 20

// forcedOf finds the collections that the program asked for, each at the clock of
// the first sample after it.
func forcedOf(ticks []tick) (at []float64) {
	for i := 1; i < len(ticks); i++ {
		before, now := ticks[i-1].forced, ticks[i].forced
		if now < before || now-before > mostForced-len(at) {
			continue // another program, or not seen, or no figure of a runtime
		}
		for range now - before {
			at = append(at, ticks[i].alloc)
		}
	}
	return at
}

// fresh is the most CPU time, in seconds, that a program has used whose first
// sample is taken as its start.
const fresh = 1

// noteRecorded finds the peaks. Between two samples the heap grew up to the end of
// the mark that lies there.
func (h *History) noteRecorded() {
	rec, last := &h.Recorded, h.ticks[len(h.ticks)-1]
	for i, t := range h.ticks {
		rec.Peak, rec.Anon = max(rec.Peak, t.heap), max(rec.Anon, t.anon)
		if i > 0 && (t.gogc != h.ticks[i-1].gogc || t.memoryLimit != h.ticks[i-1].memoryLimit) {
			h.changed++
		}
	}
	for _, m := range h.marks {
		rec.Peak = max(rec.Peak, m.peak)
	}
	first := h.ticks[0]
	h.begins = first.cpu < fresh && first.alloc < last.alloc/2
	rec.GCs, rec.Forced = last.gcs, last.forced
	if !h.begins {
		rec.GCs, rec.Forced = last.gcs-first.gcs, last.forced-first.forced
	}
	h.Setting = Setting{GOGC: last.gogc, Limit: last.memoryLimit}
}

// start is the first clock.
func (h *History) start() float64 {
	if h.begins {
		return 0
	}
	return h.ticks[0].alloc
}

// end is the last clock.
func (h *History) end() float64 {
	end := h.ticks[len(h.ticks)-1].alloc
	if h.held != nil {
		end = max(end, h.held.clock)
	}
	return end
}

// seconds is when the clock stood at a.
func (h *History) seconds(a float64) float64 {
	i := h.at(a)
	if i+1 >= len(h.ticks) {
		return h.ticks[len(h.ticks)-1].at
	}
	t, u := h.ticks[i], h.ticks[i+1]
	if u.alloc <= t.alloc {
		return t.at
	}
	return t.at + (u.at-t.at)*min(1, max(0, (a-t.alloc)/(u.alloc-t.alloc)))
}

// at is the last tick at or before clock a, 0 if there is none.
func (h *History) at(a float64) int {
	low, high := 0, len(h.ticks)
	for low < high {
		if mid := (low + high) / 2; h.ticks[mid].alloc <= a {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return max(0, low-1)
}

// lasted is how long the recording is.
func (h *History) lasted() time.Duration {
	return time.Duration(h.ticks[len(h.ticks)-1].at * float64(time.Second))
}

// clockOf is the clock at a second.
func (h *History) clockOf(second float64) float64 {
	i := sort.Search(len(h.ticks), func(i int) bool { return h.ticks[i].at > second })
	return h.ticks[max(0, i-1)].alloc
}
