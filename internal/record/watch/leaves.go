package watch

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// A program that traces what it starts, a debugger or strace, cannot while that is traced
// by us: a thread has one tracer (ptrace(2)). What such a program starts is left to it.

// debuggers are programs that trace what they start, by name: those that are linked
// statically show it by nothing else.
var debuggers = []string{"dlv", "gdb", "gdbserver", "lldb-server", "ltrace", "rr", "strace"}

// TracesOthers says whether a program traces others, as far as its name and its executable
// tell. What it starts is left to it then.
func TracesOthers(path string) bool {
	return slices.Contains(debuggers, filepath.Base(path)) || gobin.TracingOf(path) == gobin.Traces
}

// findTracing sets what the executable tells.
func (p *process) findTracing() {
	switch {
	case p.bin != nil && p.library == "":
		p.tracing = p.bin.Tracing()
	default:
		p.tracing = gobin.TracingOf(exeOf(p.root, p.readTID))
	}
	if slices.Contains(debuggers, p.program.Name) {
		p.tracing = gobin.Traces
	}
}

// onLeaves says whether what a process starts is left to it, and tells so.
func (s *Source) onLeaves(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.live[pid]
	if p == nil {
		return false
	}
	p.findTracing()
	p.leaves = s.opts.LeaveChildren || p.tracing == gobin.Traces
	if p.leaves {
		s.gap(p.key, "the state at the exit of what "+p.program.Name+" starts", leftTo(p.program.Name))
	}
	return p.leaves
}

func leftTo(name string) error {
	return fmt.Errorf("%s may trace the program, and a thread has one tracer: highwater leaves the program to %s", name, name)
}

// leftBy is the program above a process that what it starts is left to; "": none.
func (s *Source) leftBy(pid int) string {
	const deepest = 64
	for range deepest {
		parent, err := procfs.Parent(s.opts.Root, pid)
		if err != nil || parent == 0 || parent == pid {
			return ""
		}
		if p := s.live[parent]; p != nil && p.leaves {
			return p.program.Name
		}
		pid = parent
	}
	return ""
}

// tellFailure tells of a program that failed after it had started others, and that may
// have failed because we traced them: its executable does not tell that it traces.
func (s *Source) tellFailure(p *process, status sample.Opt[lastbreath.Status]) {
	failed := status.OK && status.V.Signal == 0 && status.V.Code != 0
	if s.scope != started || !failed || !p.forks || p.leaves || p.tracing != gobin.MayTrace {
		return
	}
	s.gap(p.key, "whether "+p.program.Name+" traces what it starts",
		errors.New("highwater traced it, and a thread has one tracer: a program that uses ptrace itself fails then; run --leave-children leaves it what it starts"))
}
