package watch

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// wellEnded bounds what is read of children that end by themselves with code 0. A build starts a compiler for each
// package, and to read each of them at its end, with a mark of what was live, took as long as a third of the build.
// A child that is killed, that crashes or that fails is read at all times.
type wellEnded struct {
	started int          // children that were seen
	largest sample.Bytes // that was resident of one of them, of those that were read
	next    time.Time    // before which none is read but the larger
}

const (
	// fewChildren is up to how many that are started each is read: most programs start no more, and of a wrapper its
	// child is what counts.
	fewChildren = 2
	// wellEndedShare is then the part of the time, one in so many, for which children are held for it.
	wellEndedShare = 100
	// flurryShare is that while many children are started.
	flurryShare = 400
	// wellEndedGrowth is how much larger than all before one must be to be read in any case: a run has few of
	// them, and the largest among them up to this factor.
	wellEndedGrowth = 2
	// wellEndedLive is the heap up to which what was live is marked of such a child.
	wellEndedLive = 64 * sample.MiB
)

func (w *wellEnded) many() bool { return w.started > fewChildren }

// skip says whether a child is let go unread that ends by itself.
func (w *wellEnded) skip(now time.Time, resident sample.Bytes) bool {
	return w.many() && now.Before(w.next) && resident < wellEndedGrowth*w.largest
}

// spent notes that one was read, which it was held for.
func (w *wellEnded) spent(now time.Time, took, share time.Duration, resident sample.Bytes) {
	w.largest = max(w.largest, resident)
	w.next = now.Add(share * took)
}

// countChild counts what is started below the program that is watched.
func (s *Source) countChild(p *process) {
	if p.key.PID != s.main {
		s.wellEnded.started++
		s.many.Store(s.wellEnded.many())
		s.flurry.start(time.Now())
	}
}

// flurry notes when children were started last. While many are, as in a build, each lives for as long as it takes to
// look at it: what is dear and explains one program's life waits until that is over.
type flurry struct {
	last  [flurryStarts]time.Time // a ring
	at    int
	until atomic.Int64 // UTC nanoseconds; also for who has not the lock
}

// A flurry begins with so many starts within flurryTime, and is over flurryAfter the last. Of a program that is too
// busy to be followed no more than those children are seen that live for a while.
const (
	flurryStarts = 4
	flurryTime   = 3 * time.Second
	flurryAfter  = 5 * time.Second
)

func (f *flurry) start(now time.Time) {
	f.last[f.at] = now
	f.at = (f.at + 1) % flurryStarts
	first := f.last[f.at]
	if !first.IsZero() && now.Sub(first) < flurryTime || f.lasts(now) {
		f.until.Store(now.Add(flurryAfter).UnixNano())
	}
}

func (f *flurry) lasts(now time.Time) bool { return now.UnixNano() < f.until.Load() }

// StartsMany says that the programs start many others just now.
func (s *Source) StartsMany() bool { return s.flurry.lasts(time.Now()) }

// uncountChild takes back what countChild did.
func (s *Source) uncountChild(p *process) {
	if p.key.PID != s.main {
		s.wellEnded.started--
	}
}

// endsWell says that a process is a child and ends by itself, with code 0.
func (s *Source) endsWell(d lastbreath.Death) bool {
	return d.PID != s.main && d.Status == lastbreath.Status{}
}

// tooLargeToMark says that of a child that ends well, as one of many, what was live would take too long to mark, and of
// whatever ends well while many are started.
func (s *Source) tooLargeToMark(p *process, pm *sample.ProcessMoment) bool {
	well := pm.Signal == 0 && pm.ExitCode.OK && pm.ExitCode.V == 0
	if well && s.flurry.lasts(time.Now()) {
		return true
	}
	return well && p.key.PID != s.main && s.wellEnded.many() && pm.Go != nil && pm.Go.HeapInUse > wellEndedLive
}

// letsPass says whether the end of a child is not read, and tells so once.
func (s *Source) letsPass(now time.Time, resident sample.Bytes) bool {
	skip := s.wellEnded.skip(now, resident)
	if skip {
		s.gap(sample.ProcessKey{}, "the memory of each child at its end", errManyEnd)
	}
	return skip
}

// ManyChildren says that so many children were started that what is read of one that ends well is bounded.
func (s *Source) ManyChildren() bool { return s.many.Load() }

var errManyEnd = errors.New("many children ended by themselves with exit code 0, and reading the memory of each would have slowed the program: after the first 2, Highwater spends one hundredth of the time on it; it always reads a child that was killed, that failed, or that was twice as large as the ones before")

// endShare is the part of the time, one in so many, for which children that end well are held.
func (s *Source) endShare() time.Duration {
	if s.flurry.lasts(time.Now()) {
		return flurryShare
	}
	return wellEndedShare
}
