package watch

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Command is a program to start and watch.
type Command struct {
	Path  string
	Args  []string // Args[0] is the program's name for itself
	Env   []string // beside this process's own, and instead of settings of the same name; the last one holds
	Dir   string   // "": this process's own
	Files []*os.File
	// OwnGroup puts it in a process group of its own: for a program without a
	// terminal, which must not get a signal twice.
	OwnGroup bool
}

// Start starts the program in the cgroup, watched from before its first
// instruction.
func (s *Source) Start(c Command) (pid int, err error) {
	pid, err = s.tracer.Start(lastbreath.Command{
		Path: c.Path, Args: c.Args, Env: environ(os.Environ(), c.Env), Dir: c.Dir, Files: c.Files, Setpgid: c.OwnGroup,
		BeforeRun: func(pid int) error {
			s.mu.Lock()
			s.main = pid
			s.followFaults(pid)
			s.mu.Unlock()
			s.startedPID.Store(int64(pid))
			if s.opts.Group == nil {
				return nil
			}
			return s.opts.Group.Add(pid)
		},
	})
	return pid, err
}

// environ keeps the last setting of each name: Go's runtime takes the first that it
// finds (gogetenv in runtime/env_posix.go, Go 1.26), others the last.
func environ(own, more []string) []string {
	all := append(slices.Clone(own), more...)
	var kept []string
	for i, setting := range all {
		name, _, _ := strings.Cut(setting, "=")
		again := func(later string) bool { return strings.HasPrefix(later, name+"=") }
		if name == "" || !slices.ContainsFunc(all[i+1:], again) {
			kept = append(kept, setting)
		}
	}
	return kept
}

// Signal sends a signal to the main program, and once that has ended to the
// programs it left. The reason is one of the sample.Signal ones, "" for none.
//
// Where this source hangs, the main program gets it all the same.
func (s *Source) Signal(sig syscall.Signal, reason string) error {
	if !s.lock() {
		return send(int(s.startedPID.Load()), sig)
	}
	defer s.mu.Unlock()
	pids := []int{s.main}
	if s.over || s.main == 0 {
		pids = pids[:0]
		for pid := range s.live {
			pids = append(pids, pid)
		}
	}
	var errs []error
	for _, pid := range pids {
		e := sample.Event{At: time.Now(), Kind: sample.EventSignal, Value: int64(sig), Text: reason}
		if p := s.live[pid]; p != nil {
			e.Process = p.key
		}
		s.event(e)
		errs = append(errs, send(pid, sig))
	}
	return errors.Join(errs...)
}

// send sends a signal to a process; one that has ended needs none.
func send(pid int, sig syscall.Signal) error {
	if pid == 0 {
		return nil
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(sig)
	}
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Kill ends whatever is left of what Start started.
func (s *Source) Kill() error {
	if s.opts.Group != nil {
		return s.opts.Group.Kill()
	}
	return s.Signal(syscall.SIGKILL, "")
}

// ExitCode is the main program's exit code as a shell gives it: 128+n where
// signal n ended it, 0 while it runs.
func (s *Source) ExitCode() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return exitCode(s.exit.V)
}

// exitCode is how a shell gives a status.
func exitCode(s lastbreath.Status) int {
	if s.Signal != 0 {
		return 128 + s.Signal
	}
	return s.Code
}

// Left is how many programs run although the main one has ended.
func (s *Source) Left() int {
	if !s.lock() {
		return 0
	}
	defer s.mu.Unlock()
	if !s.over {
		return 0
	}
	return len(s.live)
}

// Started is the pid of the program that was started, 0 before.
func (s *Source) Started() int { return int(s.startedPID.Load()) }
