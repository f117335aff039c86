package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/cgroup"
	"github.com/highwater-go/highwater/internal/procfs"
	"github.com/highwater-go/highwater/internal/sample"
)

// maxBeside bounds the programs that share a cgroup with the one that is watched:
// the charge of a whole session says little of one program.
const maxBeside = 32

// Attach watches a program that runs already and all below it, until they have
// ended. Where its cgroup in h, nil for none, has a limit or nothing else in it,
// that is watched as well. The error is procfs.ErrGone where there is no such
// process, and fs.ErrPermission where no more than the kernel's figures may be
// read of it and Options.FiguresAlone does not allow that.
func (s *Source) Attach(pid int, h *cgroup.Hierarchy) (sample.Program, error) {
	s.mu.Lock()
	s.main, s.scope = pid, tree
	if h != nil && s.opts.Group == nil {
		s.chooseGroup(pid, h)
	}
	p := s.add(pid, false)
	s.mu.Unlock()
	if p == nil {
		return sample.Program{}, fmt.Errorf("watch process %d: %w", pid, procfs.ErrGone)
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

// AttachGroup watches all that is in Options.Group now and later, until nothing
// is. It gives the number of programs.
func (s *Source) AttachGroup(h *cgroup.Hierarchy) (int, error) {
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
	s.shareLimit(s.opts.Group, h)
	return n, nil
}

// chooseGroup opens the cgroup of a program where its charge is worth knowing.
func (s *Source) chooseGroup(pid int, h *cgroup.Hierarchy) {
	const what = "the cgroup's charge"
	path, err := h.Find(pid)
	if err != nil || path == "/" {
		return // the machine is no cgroup
	}
	g, err := h.Open(path)
	if err != nil {
		s.gap(sample.ProcessKey{}, what, err)
		return
	}
	beside, limited, err := s.besideIn(g)
	if err != nil || beside > maxBeside || beside > 0 && !limited {
		g.Close()
		s.gap(sample.ProcessKey{}, what, errors.Join(err, fmt.Errorf("%s holds %d programs beside this one", path, beside)))
		return
	}
	s.opts.Group, s.foundGroup = g, true
	s.readOOMKills()
	s.shareLimit(g, h)
}

// besideIn is how many programs a cgroup holds beside those that are watched, and
// whether it, or one above it, has a limit.
func (s *Source) besideIn(g *cgroup.Cgroup) (beside int, limited bool, err error) {
	levels, err := g.Limits()
	if err != nil {
		return 0, false, err
	}
	pids, err := g.Procs()
	if err != nil {
		return 0, false, err
	}
	for _, pid := range pids {
		if !s.isOurs(pid) {
			beside++
		}
	}
	_, limited = cgroup.Tightest(levels)
	return beside, limited, nil
}

// shareLimit takes ballast where a limit of the program's is one of ours too.
func (s *Source) shareLimit(g *cgroup.Cgroup, h *cgroup.Hierarchy) {
	levels, err := g.Limits()
	if err != nil {
		return
	}
	own, err := h.Find(os.Getpid())
	if err != nil {
		return
	}
	shared := slices.DeleteFunc(levels, func(l cgroup.Level) bool { return !isWithin(own, l.Path) })
	if tightest, ok := cgroup.Tightest(shared); ok {
		s.ballast.load(tightest.Limit.V)
	}
}

// isWithin says whether a cgroup is another or below it.
func isWithin(path, above string) bool {
	return path == above || strings.HasPrefix(path, strings.TrimSuffix(above, "/")+"/")
}

// isOurs says whether a process belongs to what is watched: any but our own
// where that is a cgroup, else the main program and what is below it.
func (s *Source) isOurs(pid int) bool {
	const deepest = 64
	switch s.scope {
	case started:
		return true
	case whole:
		return pid != os.Getpid()
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
	p.program.WhyNot = "it shares the cgroup with what is watched"
	if pid == os.Getpid() {
		p.program.WhyNot = "it is the watcher"
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
