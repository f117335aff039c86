package watch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Capture keeps a moment of every program that runs. The lock is given up
// between its steps, so that a death need not wait for it.
func (s *Source) Capture(kind sample.MomentKind) {
	began := time.Now()
	m := &sample.Moment{At: began, Kind: kind}
	s.mu.Lock()
	m.Cgroup = s.readGroup()
	s.doze.read = true
	procs := slices.Clone(s.order)
	s.mu.Unlock()
	var taken []*process
	moments := make([]sample.ProcessMoment, len(procs))
	for i, p := range procs {
		moments[i].Key = p.key
		for _, step := range steps {
			s.mu.Lock()
			if i == 0 {
				s.charge = &m.Cgroup
			}
			if s.running(p) {
				step.take(s, p, &moments[i], p.readTID)
			}
			s.charge = nil
			s.mu.Unlock()
		}
	}
	m.Files = s.takeFiles(m.Cgroup, procs)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range procs {
		// One that ended or became another program meanwhile is told as that.
		if s.running(p) && moments[i].Resident != nil {
			m.Processes = append(m.Processes, moments[i])
			taken = append(taken, p)
		}
	}
	if len(taken) == 0 {
		return
	}
	m.CgroupAfter = s.readGroup()
	m.Took = time.Since(began)
	s.keepMoment(m, taken)
}

// running says that the process is what its pid runs now, and not at its end.
// The caller holds the lock.
func (s *Source) running(p *process) bool {
	return !p.held && p.alive && s.live[p.key.PID] == p
}

// step is one part of a moment of one process.
type step struct {
	name string
	take func(s *Source, p *process, pm *sample.ProcessMoment, tid int)
}

// steps are in the order of their worth: a process that is held at its death has
// little time.
var steps = []step{
	{"figures", (*Source).takeFigures},
	{"heap profile", (*Source).takeHeap},
	{"goroutines", (*Source).takeGoroutines},
	{"resident pages", (*Source).takeResidency},
	{"C allocator", (*Source).takeMalloc},
	{"runtime metrics", (*Source).takeMetrics},
}

// dying takes the moment of a process that is held at its exit, within the time
// until deadline, and what the others had beside it: its own row comes first. The caller holds the lock.
func (s *Source) dying(p *process, tid int, pm *sample.ProcessMoment, deadline time.Time) (*sample.Moment, []*process) {
	began := time.Now()
	m := &sample.Moment{At: began, Kind: sample.MomentDeath, Cgroup: s.readGroup()}
	s.account.withBallast(m.Cgroup)
	p.c.dying(deadline)
	for _, step := range steps {
		if !deadline.IsZero() && time.Now().After(deadline) {
			pm.Incomplete = "no time was left for its " + step.name
			break
		}
		step.take(s, p, pm, tid)
	}
	if pm.Signal == int(syscall.SIGKILL) {
		s.findUnseen(began, deadline)
	}
	beside := s.beside()
	s.tellDying(p, lastbreath.Death{PID: p.key.PID, TID: tid, Status: lastbreath.Status{Signal: pm.Signal, Code: pm.ExitCode.V}, Deadline: deadline})
	if pm.Incomplete == "" {
		s.takeLive(p, pm, deadline)
	}
	m.Stopped = time.Since(began)
	s.pagesBeside(beside, deadline)
	m.Files = s.filesAtEnd(m.Cgroup, p, tid, beside, deadline)
	s.account.ballastOf(beside)
	m.Processes = []sample.ProcessMoment{*pm}
	taken := []*process{p}
	for _, b := range beside {
		m.Processes = append(m.Processes, b.ProcessMoment)
		taken = append(taken, b.process)
	}
	m.CgroupAfter = s.readGroup()
	m.Took = time.Since(began)
	return m, taken
}

// beside is a program that lives on while another one dies.
type beside struct {
	*process
	sample.ProcessMoment
}

// beside reads what the programs that live on hold: some microseconds each, so
// that none is left out of the ledger.
func (s *Source) beside() (all []beside) {
	for _, p := range s.order {
		if !s.running(p) {
			continue
		}
		b := beside{p, sample.ProcessMoment{Key: p.key}}
		if s.takeFigures(p, &b.ProcessMoment, p.readTID); b.Resident != nil {
			all = append(all, b)
		}
	}
	return all
}

// pagesBeside reads where their pages lie, while there is time.
func (s *Source) pagesBeside(all []beside, deadline time.Time) {
	for i := range all {
		if !deadline.IsZero() && time.Now().After(deadline) {
			all[i].Incomplete = "no time was left for its resident pages"
			continue
		}
		s.takeResidency(all[i].process, &all[i].ProcessMoment, all[i].readTID)
	}
}

// keepMoment queues a moment and what it needs to be understood.
func (s *Source) keepMoment(m *sample.Moment, procs []*process) {
	for _, p := range procs {
		p.kept = true
		if p.runtime != nil {
			s.giveSites(p)
		}
	}
	s.giveFaultsOf(procs, m.At)
	s.giveNativeOf(procs, m.At)
	s.later(func(sink capture.Sink) error {
		for i := range m.Processes {
			if len(m.Processes[i].Goroutines) > 0 {
				procs[i].symbols.Goroutines(m.Processes[i].Goroutines)
			}
		}
		return sink.Moment(m)
	})
}

// readGroup is a copy of the charge now, nil where there is none.
func (s *Source) readGroup() *sample.Cgroup {
	if s.account.group == nil {
		return nil
	}
	var c sample.Cgroup
	if err := s.account.read(&c); err != nil {
		return nil
	}
	if c.Stat != nil {
		stat := *c.Stat
		c.Stat = &stat
	}
	if c.Events != nil {
		events := *c.Events
		c.Events = &events
	}
	return &c
}

func (s *Source) takeFigures(p *process, pm *sample.ProcessMoment, tid int) {
	pm.Resident = s.residentOf(p, tid)
	if p.runtime == nil {
		return
	}
	var r sample.Runtime
	if err := p.stats.Counters(&r); err != nil {
		s.unread(p, "Go's figures of "+p.program.Name, err)
		return
	}
	pm.Go = &r
}

// residentOf reads the resident set through one of the process's threads: at its
// end the first may be gone already. Nil where it cannot be read.
func (s *Source) residentOf(p *process, tid int) *sample.Resident {
	var r sample.Resident
	if tid == p.readTID {
		if p.watcher.Read(&r) == nil {
			return &r
		}
		return nil
	}
	w, err := procfs.Watch(s.opts.Root, tid)
	if err == nil {
		defer w.Close()
		err = w.Read(&r)
	}
	if err != nil {
		s.gap(p.key, "resident memory of "+p.program.Name+" at its end", err)
		return nil
	}
	return &r
}

func (s *Source) takeHeap(p *process, pm *sample.ProcessMoment, _ int) {
	pm.Profile = s.takeProfile(p, time.Now())
}

func (s *Source) takeGoroutines(p *process, pm *sample.ProcessMoment, _ int) {
	if p.runtime == nil {
		return
	}
	read := p.stats.Goroutines
	if pm.Signal != 0 || pm.ExitCode.OK {
		read = p.stats.GoroutinesAtEnd
	}
	groups, err := read()
	if err != nil {
		s.unread(p, "goroutines of "+p.program.Name, err)
		return
	}
	pm.Goroutines = groups
}

// rangesFree are lists of ranges, lent for one reading: of a hundred programs each would keep
// one of 100 KiB or more.
var rangesFree = sync.Pool{New: func() any { return new([]sample.PageRange) }}

func (s *Source) takeResidency(p *process, pm *sample.ProcessMoment, tid int) {
	if s.mayStarve(p) {
		return
	}
	known := false
	lent := rangesFree.Get().(*[]sample.PageRange)
	defer rangesFree.Put(lent)
	*lent = (*lent)[:0]
	if p.runtime != nil {
		ranges, err := p.runtime.Ranges(*lent)
		if err != nil {
			s.unread(p, "which pages of "+p.program.Name+" hold what", err)
		} else {
			*lent, known = ranges, true
		}
	}
	if s.charge != nil { // a busy program allocates megabytes in a few milliseconds
		*s.charge = cmp.Or(s.readGroup(), *s.charge)
	}
	r, err := s.mapper.Residency(s.opts.Root, tid, *lent, known)
	if err != nil {
		s.unread(p, "resident pages of "+p.program.Name, err)
		return
	}
	pm.Residency = r
	p.mapped = s.mapper.MappedFiles()
	pm.ThreadStarts = p.threadStarts(s.mapper.ThreadStarts())
	s.tellOthers(p, tid)
}

func (s *Source) takeMetrics(p *process, pm *sample.ProcessMoment, _ int) {
	if p.runtime == nil {
		return
	}
	var m sample.RuntimeMetrics
	if err := p.stats.Metrics(&m); err != nil {
		s.gap(p.key, "runtime metrics of "+p.program.Name, err)
		return
	}
	for _, missing := range m.Missing {
		if missing.Refused {
			s.gap(p.key, missing.Name+" of "+p.program.Name, errors.New(missing.Why))
		}
	}
	pm.Metrics = &m
}

// takeLive marks what is reachable in a process that stands still.
func (s *Source) takeLive(p *process, pm *sample.ProcessMoment, deadline time.Time) {
	if p.runtime == nil {
		return
	}
	if s.tooLargeToMark(p, pm) {
		s.gap(p.key, "what was live in "+p.program.Name, errManyEnd)
		return
	}
	if deadline.IsZero() {
		deadline = time.Now().Add(lastbreath.HoldOOM)
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	live, err := p.heap.LiveObjects(ctx, p.stats)
	if err != nil {
		s.unread(p, "what was live in "+p.program.Name, err)
		return
	}
	pm.Live = live
}
