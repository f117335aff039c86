package trial

import (
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Patience is for how long nothing may move before a run is called livelocked.
const Patience = 30 * time.Second

// Progress tells a program that lives and gets nowhere from one that works. It is
// told of answers and of points; it calls a run livelocked when for all of its
// patience
//
//   - nothing was answered, of a program that had answered before; or
//   - the charge stood at the limit, faults went to the disk, and the program itself
//     got hardly any CPU time: the kernel takes its code away and reads it back.
//
// A collector that runs back to back is slow and gets somewhere, so it is none: its
// run shows in time and GC share, or runs out of time. Methods may not be called at
// the same time.
type Progress struct {
	Patience time.Duration // 0: Patience

	answered time.Time // the last answer
	stuck    reading   // since when the charge stood at the limit; zero: it did not
}

// reading is the counters of all processes at one point.
type reading struct {
	at        time.Time
	user      time.Duration
	faults    uint64
	processes int
}

// The charge at which a limit is met, the least page faults a second that go to the
// disk, and the share of one CPU below which a program gets nowhere.
const (
	atLimit     = 0.98
	diskFaults  = 50
	leastOfWork = 0.01
)

// Answered notes that the program answered a request then.
func (p *Progress) Answered(at time.Time) { p.answered = at }

// Stalled takes a full point and says whether the run is livelocked.
func (p *Progress) Stalled(point *sample.Point) bool {
	patience := p.Patience
	if patience == 0 {
		patience = Patience
	}
	if !p.answered.IsZero() && point.At.Sub(p.answered) > patience {
		return true
	}
	c := point.Cgroup
	if c == nil || !c.Limit.OK || float64(c.Usage) < atLimit*float64(c.Limit.V) {
		p.stuck = reading{}
		return false
	}
	now := readingOf(point)
	if p.stuck.at.IsZero() || now.processes != p.stuck.processes || p.works(now) {
		p.stuck = now
		return false
	}
	since := now.at.Sub(p.stuck.at)
	return since > patience && float64(now.faults-p.stuck.faults) >= diskFaults*since.Seconds()
}

// works reports whether, since it is stuck, it has got more CPU time than one that gets nowhere.
func (p *Progress) works(now reading) bool {
	const start = time.Second // of which 1 % is less than a clock tick
	since := max(now.at.Sub(p.stuck.at), start)
	return float64(now.user-p.stuck.user) > leastOfWork*float64(since)
}

func readingOf(point *sample.Point) reading {
	r := reading{at: point.At, processes: len(point.Processes)}
	for _, p := range point.Processes {
		if p.Resident != nil {
			r.user += p.Resident.User
			r.faults += p.Resident.Majflt
		}
	}
	return r
}
