package watch

import (
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/capture"
	"github.com/highwater-go/highwater/internal/lastbreath"
	"github.com/highwater-go/highwater/internal/procfs"
	"github.com/highwater-go/highwater/internal/sample"
)

// scan finds programs of the tree that nothing told us of: children of Go
// programs, whose threads are not traced.
func (s *Source) scan(now time.Time) {
	for _, pid := range s.pids() {
		since, followed := s.forked[pid]
		switch {
		case s.live[pid] != nil:
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
}

// pids are the processes of the tree: the cgroup's, or the main one's
// descendants.
func (s *Source) pids() []int {
	if s.opts.Group != nil {
		pids, err := s.opts.Group.Procs()
		if err == nil {
			return pids
		}
		s.gap(sample.ProcessKey{}, "the cgroup's processes", err)
	}
	var all []int
	for _, p := range s.order {
		below, err := procfs.Descendants(s.opts.Root, p.key.PID)
		if err == nil {
			all = append(all, below...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// found adds a process that runs already. The tracer may be waiting for the
// lock, so the loop asks it to seize the process later, without the lock.
func (s *Source) found(pid int) {
	p := s.add(pid, false)
	if p == nil {
		return
	}
	if parent := s.live[p.program.Parent]; parent != nil {
		parent.forks = true
		s.noteNarrowed(parent)
	}
	s.later(func(capture.Sink) error {
		err := s.tracer.Seize(pid, p.bin != nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		p.traced = err == nil
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			s.gap(p.key, "the last breath of "+p.program.Name, err)
		}
		return nil
	})
}

// forgetGone removes processes that ended without the tracer's telling.
func (s *Source) forgetGone() {
	for _, p := range slices.Clone(s.order) {
		if p.traced || p.held {
			continue
		}
		if err := p.watcher.Read(&p.resident); errors.Is(err, procfs.ErrGone) {
			s.remove(p.key.PID, sample.Opt[lastbreath.Status]{})
		}
	}
	s.checkDone()
}
