package top

import (
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Seat says what a Life is of.
type Seat struct {
	Name string       // for people
	PID  int          // of its main program, 0 for a cgroup
	Path string       // of its recording
	Sink capture.Sink // nil: nothing is kept
	// Recording is how commands are given the recording.
	Recording string
	// Watches says whether a process belongs to it and does not only share its
	// cgroup.
	Watches func(pid int) bool
}

// Life is one recording while it is written. It is a capture.Sink: what it is given
// is kept by the sink behind it, and the latest of it is shown.
type Life struct {
	Seat
	board *Board
	asked chan struct{}
	lost  error // of the sink behind: it is not called again

	// What follows is under board.mu.
	began     time.Time
	processes []*process // in order of appearance; those that ended are left out
	gone      []*process // those that ended by a kill, and the last one
	point     sample.Point
	cgroup    sample.Cgroup
	stat      sample.CgroupStat
	beside    int // processes that only share the cgroup
	use       history
	ended     time.Time
	answer    *explain.Answer
}

// process is one process of a Life.
type process struct {
	program  sample.Program
	resident sample.Opt[sample.Bytes]
	figures  *sample.Runtime
	use      history
	gc       counters
	cycles   []sample.GCCycle // the last ones
	ended    time.Time
	signal   bool // SIGKILL ended it
	oom      bool // the kernel's, for its memory
	exit     string
}

// mostCycles is how many collections of a process are remembered.
const mostCycles = 32

// MomentRequests brings the wishes for a moment now.
func (l *Life) MomentRequests() <-chan struct{} { return l.asked }

// ask wishes for a moment; it is false where one is on its way already.
func (l *Life) ask() bool {
	select {
	case l.asked <- struct{}{}:
		return true
	default:
		return false
	}
}

// keep calls the sink behind until it first fails: the view goes on.
func (l *Life) keep(call func(capture.Sink) error) error {
	if l.Sink != nil && l.lost == nil {
		if l.lost = call(l.Sink); l.lost != nil {
			l.board.Say("the recording of " + l.Name + " ends here, the program keeps running: " + l.lost.Error())
		}
	}
	return nil
}

// Program notes a process, or that one became another program.
func (l *Life) Program(p sample.Program) error {
	if l.PID == p.Key.PID || l.Watches(p.Key.PID) {
		l.board.change(func() {
			if old := l.find(p.Key); old != nil {
				*old = process{program: p}
				return
			}
			l.processes = append(l.processes, &process{program: p})
		})
	}
	return l.keep(func(s capture.Sink) error { return s.Program(p) })
}

// find is the process with that key, nil where there is none.
func (l *Life) find(key sample.ProcessKey) *process {
	if i := slices.IndexFunc(l.processes, func(p *process) bool { return p.program.Key == key }); i >= 0 {
		return l.processes[i]
	}
	return nil
}

// Point notes the latest figures.
func (l *Life) Point(p *sample.Point) error {
	l.board.mu.Lock()
	l.note(p)
	l.board.mu.Unlock()
	return l.keep(func(s capture.Sink) error { return s.Point(p) })
}

// note copies what is shown of a point. Dense ones have the charge alone.
func (l *Life) note(p *sample.Point) {
	if l.began.IsZero() {
		l.began = p.At
	}
	if c := p.Cgroup; c != nil {
		if c.Stat != nil {
			l.stat = *c.Stat
		}
		l.cgroup = *c
		l.cgroup.Stat, l.cgroup.Events = &l.stat, nil
		l.use.add(p.At, float64(c.Usage.Sub(l.stat.PageCache)))
	}
	if len(p.Processes) == 0 {
		return
	}
	l.point.At, l.point.Processes, l.beside = p.At, l.point.Processes[:0], 0
	for _, one := range p.Processes {
		l.noteProcess(p.At, one)
	}
}

func (l *Life) noteProcess(now time.Time, seen sample.Process) {
	p := l.find(seen.Key)
	if p == nil {
		l.beside++
	}
	kept := sample.Process{Key: seen.Key}
	if r := seen.Resident; r != nil {
		copied := *r
		kept.Resident = &copied
		if p != nil {
			p.resident = sample.Some(r.Total)
			p.use.add(now, float64(r.Anon()))
		}
	}
	if g := seen.Go; g != nil {
		copied := *g
		kept.Go = &copied
		if p != nil {
			p.figures = &copied
			p.gc.part.add(now, (g.GCAssist + g.GCDedicated + g.GCPause).Seconds())
			if r := seen.Resident; r != nil {
				p.gc.whole.add(now, (r.User + r.System).Seconds())
			}
		}
	}
	l.point.Processes = append(l.point.Processes, kept)
}

// Cycle notes a collection.
func (l *Life) Cycle(c sample.GCCycle) error {
	l.board.mu.Lock()
	if p := l.find(c.Process); p != nil {
		if len(p.cycles) == mostCycles {
			p.cycles = append(p.cycles[:0], p.cycles[1:]...)
		}
		p.cycles = append(p.cycles, c)
	}
	l.board.mu.Unlock()
	return l.keep(func(s capture.Sink) error { return s.Cycle(c) })
}

// Event notes ends and kills.
func (l *Life) Event(e sample.Event) error {
	switch p := l.find(e.Process); {
	case p == nil:
	case e.Kind == sample.EventOOMKill:
		l.board.change(func() { p.oom = true })
	case e.Kind == sample.EventExit:
		l.board.change(func() { l.exited(p, e) })
	}
	return l.keep(func(s capture.Sink) error { return s.Event(e) })
}

// sigkill is how an exit by SIGKILL is told (lastbreath.Status).
const sigkill = 128 + 9

func (l *Life) exited(p *process, e sample.Event) {
	p.ended, p.exit, p.signal = e.At, e.Text, e.Value == sigkill
	l.processes = slices.DeleteFunc(l.processes, func(q *process) bool { return q == p })
	if p.signal || p.oom || len(l.processes) == 0 {
		l.gone = append(l.gone, p)
	}
}

// End says that nothing more comes, with what explain says of it all; nil: nothing.
// Programs that go on and are only no longer watched are shown no more.
func (l *Life) End(a *explain.Answer) {
	l.board.change(func() {
		l.ended, l.answer = time.Now(), a
		if len(l.processes) > 0 || len(l.gone) == 0 {
			l.board.remove(l)
		}
		l.board.forget()
	})
}

// The rest is passed on.

// Sites passes on allocation sites.
func (l *Life) Sites(key sample.ProcessKey, first int, sites []sample.Site) error {
	return l.keep(func(s capture.Sink) error { return s.Sites(key, first, sites) })
}

// Gap passes on a gap.
func (l *Life) Gap(g sample.Gap) error {
	return l.keep(func(s capture.Sink) error { return s.Gap(g) })
}

// Heap passes on a heap profile.
func (l *Life) Heap(key sample.ProcessKey, p *sample.HeapProfile) error {
	return l.keep(func(s capture.Sink) error { return s.Heap(key, p) })
}

// Moment passes on a moment.
func (l *Life) Moment(m *sample.Moment) error {
	return l.keep(func(s capture.Sink) error { return s.Moment(m) })
}

// Flush passes on a flush.
func (l *Life) Flush() error { return l.keep(capture.Sink.Flush) }
