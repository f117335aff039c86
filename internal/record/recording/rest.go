package recording

import (
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A program at rest is looked at each second, and most looks see what the one before saw. Such
// a point has no row: the next row counts in its column unchanged how many there were since
// the row before. So a time without rows is one in which nothing changed where the row that
// ends it says so, and one that nobody saw where it does not. A Reader puts the points back.

// resting is what the writer knows of a rest.
type resting struct {
	base    held // the last point with a row, while it rested
	known   bool // there is one
	waiting bool // points[queued] is one without a row as yet
	looks   int64
}

// restSync bounds how long a point waits that says nothing new, should nobody call Flush.
const restSync = time.Minute

// rests takes in a point that says nothing new, and reports whether it was one.
func (w *Writer) rests(p *sample.Point) bool {
	r := &w.resting
	if !p.Resting || !r.known || !r.base.seen.sameAs(p) || time.Since(w.lastSync) >= w.syncAtRest() {
		return false
	}
	host, pressure := sample.Opt[sample.Host]{}, sample.Opt[sample.Pressure]{}
	if r.waiting { // what is read seldom stays with the point that has a row in the end
		seen := &w.points[w.queued].seen
		host, pressure = opt(seen.Host), opt(seen.Pressure)
	}
	h := w.hold(p)
	if host.OK && (h.seen.Host == nil || host.V.Available < h.seen.Host.Available) { // the least
		h.seen.Host = keep(&h.host, &host.V)
	}
	if h.seen.Pressure == nil && pressure.OK {
		h.seen.Pressure = keep(&h.pressure, &pressure.V)
	}
	r.waiting = true
	r.looks++
	return true
}

func opt[T any](from *T) (to sample.Opt[T]) {
	if from != nil {
		to = sample.Some(*from)
	}
	return to
}

// enqueue has a point written with the next commit.
func (w *Writer) enqueue(p *sample.Point) {
	w.endRest()
	h := w.hold(p)
	w.queued++
	w.moved = w.moved || !p.Resting
	r := &w.resting
	if r.known = p.Resting; r.known {
		r.base.copyOf(&h.seen.Point)
	}
}

// endRest gives the last point that waits its row.
func (w *Writer) endRest() {
	if r := &w.resting; r.waiting {
		w.points[w.queued].unchanged = r.looks - 1
		r.base.copyOf(&w.points[w.queued].seen.Point)
		w.queued++
		r.waiting, r.looks = false, 0
	}
}

// heldPoint is a point whose groups are its holder's.
type heldPoint struct{ sample.Point }

// sameAs says whether nothing of a point differs from another by more than one would see in
// it. What the machine had left, and its pressure, are not of the program.
func (a *heldPoint) sameAs(b *sample.Point) bool {
	if len(a.Processes) != len(b.Processes) || !sameCharge(a.Cgroup, b.Cgroup) {
		return false
	}
	for i := range b.Processes {
		p, q := &a.Processes[i], &b.Processes[i]
		if p.Key != q.Key || !sameResident(p.Resident, q.Resident) || !sameRuntime(p.Go, q.Go) {
			return false
		}
	}
	return true
}

// near says whether two amounts differ by less than 64 KiB, or by a 500th.
func near(a, b sample.Bytes) bool {
	return math.Abs(float64(a)-float64(b)) <= max(float64(64*sample.KiB), float64(a)/500)
}

func sameCharge(a, b *sample.Cgroup) bool {
	if a == nil || b == nil {
		return a == b
	}
	return near(a.Usage, b.Usage) && a.Peak == b.Peak && a.Limit == b.Limit && sameStat(a.Stat, b.Stat) && sameEvents(a.Events, b.Events)
}

func sameStat(a, b *sample.CgroupStat) bool {
	if a == nil || b == nil {
		return a == b
	}
	return near(a.Anon, b.Anon) && near(a.PageCache, b.PageCache) && near(a.Shmem, b.Shmem) && near(a.Kernel, b.Kernel) &&
		a.MajorFaults == b.MajorFaults && a.Refaults == b.Refaults
}

func sameEvents(a, b *sample.CgroupEvents) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// Processor time that is no news: a hundredth of a processor for ten seconds.
const idleTime = 100 * time.Millisecond

func sameResident(a, b *sample.Resident) bool {
	if a == nil || b == nil {
		return a == b
	}
	return near(a.Total, b.Total) && near(a.Shared, b.Shared) && a.Threads == b.Threads && a.Majflt == b.Majflt &&
		b.User+b.System-a.User-a.System < idleTime
}

// sameRuntime compares what moves while no collection ends; all else of a runtime changes
// with one, or with these.
func sameRuntime(a, b *sample.Runtime) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.NumGC == b.NumGC && a.GCPhase == b.GCPhase && a.GOGC == b.GOGC && a.MemoryLimit == b.MemoryLimit && a.ProfileRate == b.ProfileRate &&
		a.Goroutines == b.Goroutines && near(a.HeapLive, b.HeapLive) && near(a.TotalAlloc, b.TotalAlloc) &&
		near(a.HeapInUse, b.HeapInUse) && near(a.HeapFree, b.HeapFree) && near(a.MappedReady, b.MappedReady) && near(a.StackInUse, b.StackInUse)
}

// mostFilled bounds the points without rows that a Series gets back; of more, fewer between
// two rows.
const mostFilled = 40_000

// longestRest is more than the time from one look of a rest to the next.
const longestRest = 3 * time.Second / 2

// fill puts the points without rows back, as the row before them was. Where rows between
// were passed over nothing is known of them.
func (s *Series) fill(unchanged []int64) {
	total := int64(0)
	for i := 1; i < len(s.At); i++ {
		if s.rested(i, unchanged[i]) {
			total += unchanged[i]
		}
	}
	if total == 0 {
		return
	}
	every := total/mostFilled + 1
	old := Series{At: s.At, columns: s.columns}
	s.At, s.columns = make([]int64, 0, int64(len(old.At))+total/every), map[string][]float64{}
	var from []int // of each row, the old one that it has its figures of
	for i, at := range old.At {
		if i > 0 && old.rested(i, unchanged[i]) {
			n := unchanged[i] / every
			for k := range n {
				s.At = append(s.At, old.At[i-1]+(at-old.At[i-1])/(n+1)*(k+1))
				from = append(from, i-1)
			}
		}
		s.At, from = append(s.At, at), append(from, i)
	}
	for name, column := range old.columns {
		filled := make([]float64, len(from))
		for i, row := range from {
			filled[i] = column[row]
		}
		s.columns[name] = filled
	}
}

// rested says whether the row before is that from which on so many looks saw nothing new.
func (s *Series) rested(i int, unchanged int64) bool {
	return unchanged > 0 && s.At[i]-s.At[i-1] <= (unchanged+1)*int64(longestRest) && unchanged <= int64(restSync/time.Millisecond)
}
