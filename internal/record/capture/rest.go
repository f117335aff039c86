package capture

import (
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A program rests when nothing of it has moved by a step within a second, for restAfter. It
// is looked at once in restEvery then, all programs of a watcher at the same instant: a
// processor that is woken for one look has a hundred at little more cost. Where the source
// hears of growth by itself, as from a threshold of the kernel's, that ends the rest; where
// it cannot, and there is a limit to be met, the charge alone is read each restDeaf.
const (
	restEvery = time.Second
	restAfter = 3 * time.Second
	restDeaf  = 250 * time.Millisecond
	restFlush = 30 * time.Second // how much of a rest a killed watcher loses
)

// What is no move within a second: bytes of what cannot be reclaimed, of the whole charge
// and of what Go allocates, goroutines, and faults and refaults of pages.
const (
	restBytes      = 512 * sample.KiB
	restCharge     = 4 * sample.MiB
	restAllocated  = sample.MiB
	restGoroutines = 16
	restFaults     = 100
	restPressure   = 5 // percent of 10 s in which a task waited for memory
	restScarce     = 8 // of the machine's memory less than one in so many parts is available
)

// What at rest is due less often: a moment where nothing moved since the last one, and a
// heap profile where a second's allocation or a collection is all that is new.
const (
	restMoment  = 8 * time.Minute
	restProfile = 5 * time.Minute
	restGrowth  = 4 // times as long after each moment, instead of twice
	// A new maximum is due once in restMaximum where it is reached by less than restClimb bytes a
	// second, and restRoom times as much is left below the limit.
	restMaximum = time.Minute
	restClimb   = 32 << 10
	restRoom    = 16
)

// figures are what of a point tells whether anything moves: sums over the processes.
type figures struct {
	at                   time.Time
	use, usage, resident float64
	allocated            float64
	goroutines           float64
	cycles, faults       float64
	met                  float64 // charges that met the limit, and kills
	processes            int
}

// rest notes what moves. The zero value is of a program that has just moved.
type rest struct {
	base  figures   // of a second ago
	now   figures   // of the last look
	moved time.Time // when something last did
	deaf  bool      // the source cannot hear of growth
	prof  figures   // at the last heap profile
}

// figuresOf sums a point up; use is the policy's.
func figuresOf(pt *sample.Point, use sample.Bytes) figures {
	f := figures{at: pt.At, use: float64(use), processes: len(pt.Processes)}
	for i := range pt.Processes {
		p := &pt.Processes[i]
		if r := p.Resident; r != nil {
			f.resident += float64(r.Total)
			f.faults += float64(r.Majflt)
		}
		if g := p.Go; g != nil {
			f.allocated += float64(g.TotalAlloc)
			f.goroutines += float64(g.Goroutines)
			f.cycles += float64(g.NumGC)
		}
	}
	if c := pt.Cgroup; c != nil {
		f.usage = float64(c.Usage)
		if c.Stat != nil {
			f.faults += float64(c.Stat.MajorFaults) + float64(c.Stat.Refaults.Or(0))
		}
		if c.Events != nil {
			f.met = float64(c.Events.Max) + float64(c.Events.OOM.Or(0)) + float64(c.Events.OOMKill)
		}
	}
	return f
}

// observe takes in a look that read the processes.
func (r *rest) observe(pt *sample.Point, use sample.Bytes, limit sample.Opt[sample.Bytes]) {
	r.now = figuresOf(pt, use)
	if r.moved.IsZero() || isPressed(pt) || r.now.moves(&r.base, stepOf(use, limit)) {
		r.moved, r.base = pt.At, r.now
		return
	}
	if pt.At.Sub(r.base.at) >= restEvery {
		r.base = r.now
	}
}

// isPressed says whether the machine is short of memory. Pressure alone does not say so: what
// waits at the limit of a cgroup of its own is counted in it, and a node has such pods for days.
func isPressed(pt *sample.Point) bool {
	if pt.Pressure == nil || pt.Pressure.Some10 <= restPressure {
		return false
	}
	return pt.Host == nil || pt.Host.Available < pt.Host.Total/restScarce
}

// observeCharge takes in a look that read the charge alone.
func (r *rest) observeCharge(pt *sample.Point, use sample.Bytes, limit sample.Opt[sample.Bytes]) {
	if math.Abs(float64(use)-r.base.use) > stepOf(use, limit) {
		r.stir(pt.At)
	}
}

// stir ends a rest.
func (r *rest) stir(now time.Time) { r.moved = now }

// isOver says whether it is too soon to rest.
func (r *rest) isOver(now time.Time) bool { return r.moved.IsZero() || now.Sub(r.moved) < restAfter }

// stepOf is how much of what cannot be reclaimed is a move: little where there is little room.
func stepOf(use sample.Bytes, limit sample.Opt[sample.Bytes]) float64 {
	step := max(float64(restBytes), float64(use)/200)
	if limit.OK {
		step = max(float64(64*sample.KiB), min(step, float64(limit.V.Sub(use))/32))
	}
	return step
}

// moves says whether something differs from before by a step.
func (f *figures) moves(before *figures, step float64) bool {
	differ := func(a, b, by float64) bool { return math.Abs(a-b) > by }
	return f.processes != before.processes ||
		f.met > before.met ||
		differ(f.use, before.use, step) ||
		differ(f.resident, before.resident, max(step, float64(restBytes))) ||
		differ(f.usage, before.usage, max(float64(restCharge), before.usage/50)) ||
		f.allocated-before.allocated > float64(restAllocated) ||
		f.cycles-before.cycles > 1 ||
		f.faults-before.faults > restFaults ||
		differ(f.goroutines, before.goroutines, max(restGoroutines, before.goroutines/20))
}

// hasNews says whether a heap profile can differ from the last one by more than a sample or
// two: what allocates or collects tells it. Of programs without such figures it always can.
func (r *rest) hasNews() bool {
	if r.now.allocated == 0 || r.now.at.Sub(r.prof.at) >= restProfile {
		return true
	}
	return r.now.allocated-r.prof.allocated > float64(restBytes) || r.now.cycles != r.prof.cycles
}

// untilGrid is the time to the next instant at which all that rest are looked at.
func untilGrid(now time.Time) time.Duration {
	return restEvery - (now.Sub(started)%restEvery+restEvery)%restEvery
}
