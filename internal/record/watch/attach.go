package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Attach watches a program that runs already and all below it, until they have
// ended. Where its cgroup has a limit or nothing else in it,
// that is watched as well. The error is procfs.ErrGone where there is no such
// process, and fs.ErrPermission where no more than the kernel's figures may be
// read of it and Options.FiguresAlone does not allow that. Where descriptors or memory are short
// (procfs.IsShortage), it is an error too: another try may see all.
func (s *Source) Attach(pid int) (sample.Program, error) {
	s.mu.Lock()
	s.main, s.scope = pid, tree
	if s.opts.Home && s.opts.Group == nil {
		s.ofProcess(pid)
	}
	p, err := s.open(pid, false)
	if err == nil {
		s.followFaults(pid)
	}
	s.mu.Unlock()
	if err != nil {
		return sample.Program{}, fmt.Errorf("watch process %d: %w", pid, err)
	}
	if procfs.IsShortage(p.attachErr) {
		return p.program, fmt.Errorf("watch %s, pid %d: %w", p.program.Name, pid, p.attachErr)
	}
	if errors.Is(p.attachErr, fs.ErrPermission) && !s.opts.FiguresAlone {
		return p.program, fmt.Errorf("watch %s, pid %d: %w", p.program.Name, pid, p.attachErr)
	}
	s.sayUnread(p)
	if err := s.seize(p); errors.Is(err, procfs.ErrGone) {
		return p.program, fmt.Errorf("watch process %d: %w", pid, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.live[pid]; now != nil {
		p = now // it may have exec'ed meanwhile
	}
	if p.tick() { // a watch that ends at once has a moment, too
		s.attach(p, time.Now())
	}
	return p.program, nil
}

// sayUnread says that a program's memory may not be read.
func (s *Source) sayUnread(p *process) {
	if errors.Is(p.attachErr, fs.ErrPermission) {
		s.say("%s, pid %d: the kernel's figures alone; %v", p.program.Name, p.key.PID, p.attachErr)
	}
}

// sayTakes says, before a program is traced, what that takes from what it executes; once
// for all that it starts.
func (s *Source) sayTakes(p *process) {
	s.mu.Lock()
	said := s.saidTakes
	s.mu.Unlock()
	takes := ""
	if !said {
		takes = WatchTakes(p.key.PID, p.bin != nil && p.library == "")
	}
	if takes == "" {
		return
	}
	s.mu.Lock()
	s.saidTakes = true
	s.mu.Unlock()
	s.say("%s", takes)
}

// AttachGroup watches all that is in Options.Group now and later, until nothing
// is. It gives the number of programs.
func (s *Source) AttachGroup() (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scope, s.over = whole, true
	pids, err := s.opts.Group.Procs()
	if err != nil {
		return 0, err
	}
	n := 0
	for _, pid := range pids {
		if s.isOurs(pid) {
			n++
		}
	}
	return n, nil
}

// isOurs says whether a process belongs to what is watched: any but our own
// where that is a cgroup, else the main program and what is below it, and what it left
// to us as the first process of a container.
func (s *Source) isOurs(pid int) bool {
	const deepest = 64
	switch s.scope {
	case started, whole:
		if s.opts.Group != nil {
			return pid != os.Getpid() && (s.account.members == nil || s.account.members[pid])
		}
	}
	for range deepest {
		if pid == s.main || s.opts.Alone {
			return pid == s.main
		}
		if p := s.live[pid]; p != nil {
			return !p.beside
		}
		parent, err := procfs.Parent(s.opts.Root, pid)
		if err != nil || parent == 0 || parent == pid {
			return false
		}
		if orphan := parent == 1 && os.Getpid() == 1; orphan && s.scope == started {
			return s.opts.Orphans
		}
		pid = parent
	}
	return false
}

// addBeside takes in a process that only shares the cgroup: its figures are a
// part of the charge.
func (s *Source) addBeside(pid int) {
	p, err := lookAt(s.opts.Root, pid)
	if err != nil {
		return
	}
	p.beside = true
	p.program.WhyNot = sample.WhyBeside
	if pid == os.Getpid() {
		p.program.WhyNot = sample.WhyWatcher
	}
	s.enter(p)
}

// Watches says whether a process belongs to this source.
func (s *Source) Watches(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.live[pid]
	return p != nil && !p.beside
}

// say tells the user, where that is a source's own task: of what it starts, the
// recording's gaps tell.
func (s *Source) say(format string, args ...any) {
	if s.opts.Say != nil && s.scope != started {
		s.opts.Say(fmt.Sprintf(format, args...))
	}
}
