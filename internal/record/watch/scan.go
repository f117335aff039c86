package watch

import (
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// scan finds programs of the tree that nothing told us of: children of Go
// programs, whose threads are not traced.
func (s *Source) scan(now time.Time) {
	s.ballast.take() // what was given up for a victim
	began := time.Now()
	pids := s.pids()
	s.nextScan = now.Add(max(scanEvery, scanShare*time.Since(began)))
	for _, pid := range pids {
		since, followed := s.forked[pid]
		switch {
		case s.live[pid] != nil:
		case s.isBuried(pid): // listed until its parent asks for its end
		case !s.isOurs(pid):
			s.addBeside(pid)
		case followed && now.Sub(since) < scanEvery: // may be about to exec
		case followed:
			delete(s.forked, pid)
			if p := s.add(pid, false); p != nil {
				p.traced = true
			}
		default:
			s.found(pid)
		}
	}
	s.forgetGone()
	for pid := range s.buried {
		if !slices.Contains(pids, pid) {
			delete(s.buried, pid)
		}
	}
}

// isBuried says that what is listed with a pid has been told to have ended.
func (s *Source) isBuried(pid int) bool {
	start, ok := s.buried[pid]
	if !ok {
		return false
	}
	key, err := procfs.KeyOf(s.opts.Root, pid)
	return err != nil || key.Start == start
}

// pids are the processes that are counted: the cgroup's, or the main one's
// descendants.
func (s *Source) pids() []int {
	if s.account.group != nil {
		pids, err := s.account.procs(s.opts.Group)
		if err == nil {
			return pids
		}
		s.gap(sample.ProcessKey{}, "the cgroup's processes", err)
	}
	var all []int
	for _, p := range s.order {
		if s.opts.Alone {
			break
		}
		below, err := s.below(p.key.PID)
		if err == nil {
			all = append(all, below...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// below lists what is below a process.
func (s *Source) below(pid int) ([]int, error) {
	if s.opts.Common != nil {
		return s.opts.Common.kin.Below(pid)
	}
	return procfs.Descendants(s.opts.Root, pid)
}

// found adds a process that runs already. The tracer may be waiting for the
// lock, so the loop asks it to seize the process later, without the lock.
func (s *Source) found(pid int) {
	p := s.add(pid, false)
	if p == nil {
		return
	}
	s.sayUnread(p)
	s.followFound(p)
	if parent := s.live[p.program.Parent]; parent != nil {
		parent.forks = true
		s.noteNarrowed(parent)
	}
	if tracer := s.leftBy(pid); tracer != "" {
		s.gap(p.key, "the state at the exit of "+p.program.Name, leftTo(tracer))
		return
	}
	s.later(func(capture.Sink) error {
		_ = s.seize(p) // told as a gap
		return nil
	})
}

// mostUnseen bounds how many processes a death looks at first: each takes some
// milliseconds.
const mostUnseen = 8

// findUnseen looks at what began since the last tick, and takes in what nobody told of,
// as what a busy program starts: at a kill it may be what filled the memory. It leaves
// off at the deadline, if there is one.
func (s *Source) findUnseen(now, deadline time.Time) {
	left := mostUnseen
	for _, pid := range s.pids() {
		if !deadline.IsZero() && time.Now().After(deadline) {
			return
		}
		if _, followed := s.forked[pid]; s.live[pid] == nil && !followed && left > 0 && !s.isBuried(pid) && s.isOurs(pid) {
			s.found(pid)
		}
		if p := s.live[pid]; p != nil && !p.alive && !p.held && left > 0 {
			p.attachAt = time.Time{}
			s.attach(p, now)
			p.tick()
			left--
		}
	}
}

// seize holds the end of a process that runs. The caller does not hold the lock:
// the tracer may wait for it.
func (s *Source) seize(p *process) error {
	s.sayTakes(p)
	err := s.tracer.Seize(p.key, p.bin != nil)
	if becameGo := s.seized(p, err); becameGo {
		err = s.tracer.Reseize(p.key.PID)
	}
	if err == nil || errors.Is(err, procfs.ErrGone) || errors.Is(err, syscall.ESRCH) {
		return err // one that is gone is told of as that
	}
	err = WhyUntraced(s.opts.Root, p.key.PID, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gap(p.key, "the state at the exit of "+p.program.Name, err)
	s.say("%s, pid %d: the state at the exit cannot be captured, so the last sample before the exit is used; %v", p.program.Name, p.key.PID, err)
	return err
}

// seized notes what Seize said, and whether the process has become a Go program
// between being opened and being seized. Of one that was traced by then the tracer
// tells that itself.
func (s *Source) seized(p *process, err error) (becameGo bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.live[p.key.PID]
	if err != nil || now == nil || now.key != p.key {
		return false
	}
	if now == p && !p.traced && p.hasChanged() {
		now = s.renew(p)
	}
	now.traced = true
	return p.bin == nil && now.bin != nil
}

// renew takes a process in again that became another program when nobody traced
// it. Where it is gone, p itself is what is known of it.
func (s *Source) renew(p *process) *process {
	s.event(sample.Event{At: time.Now(), Kind: sample.EventExec, Process: p.key})
	s.drop(p.key.PID)
	if q := s.add(p.key.PID, false); q != nil {
		return q
	}
	return p
}

// forgetGone removes processes that ended without the tracer's telling.
func (s *Source) forgetGone() {
	for _, p := range slices.Clone(s.order) {
		if p.traced || p.held {
			continue
		}
		if !p.beside && p.hasChanged() {
			s.renew(p)
			continue
		}
		if p.key.PID == s.awaited {
			continue
		}
		if err := p.watcher.Read(&p.resident); errors.Is(err, procfs.ErrGone) {
			s.remove(p.key.PID, sample.Opt[lastbreath.Status]{})
		}
	}
	s.checkDone()
}
