package watch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// StartUntraced starts the program where none may be traced, as under a seccomp filter
// without ptrace, and watches it from outside: it has no last breath, and its heap
// profile is as its linker left it. why is what Start said.
func (s *Source) StartUntraced(c Command, why error) (pid int, err error) {
	started, err := os.StartProcess(c.Path, c.Args, &os.ProcAttr{
		Dir: c.Dir, Env: environ(os.Environ(), c.Env), Files: c.Files, Sys: setpgid(c.OwnGroup),
	})
	if err != nil {
		return 0, err
	}
	pid = started.Pid
	if s.opts.Group != nil {
		if err := s.opts.Group.Add(pid); err != nil {
			s.Note(sample.Event{Kind: sample.EventNote, Text: err.Error()})
		}
	}
	s.startedPID.Store(int64(pid))
	s.mu.Lock()
	s.main, s.awaited = pid, pid
	if p := s.add(pid, false); p != nil {
		s.gap(p.key, "the state at the exit of "+p.program.Name, whyUntraceable(why))
	}
	s.mu.Unlock()
	go func() { // ends with the program
		state, err := started.Wait()
		s.untracedEnd(pid, state, err)
	}()
	return pid, nil
}

// untracedEnd tells of the end of what StartUntraced has started.
func (s *Source) untracedEnd(pid int, state *os.ProcessState, err error) {
	var status sample.Opt[lastbreath.Status]
	if err == nil {
		status = sample.Some(statusOf(state))
	}
	s.mu.Lock()
	p := s.live[pid]
	s.awaited = 0
	if p != nil && status.V.Signal == int(syscall.SIGKILL) {
		s.noticeOOM(s.readGroup(), p.key, time.Now())
	}
	s.mu.Unlock()
	s.onGone(pid, status)
}

// whyUntraceable is the system's reason.
func whyUntraceable(err error) error {
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		err = errno
	}
	return fmt.Errorf("it cannot be traced: %w", err)
}

// IsUntraceable says of an error of Start that no program may be traced here, or that this
// one is traced by another.
func IsUntraceable(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS)
}

// IsShort reports whether an error of Start says that there are too few descriptors, threads or pages for a process that is watched.
func IsShort(err error) bool {
	return slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM}, func(short error) bool { return errors.Is(err, short) })
}
