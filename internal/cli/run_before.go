package cli

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/highwater-go/highwater/internal/visible"
	"github.com/highwater-go/highwater/internal/watch"
)

// tracers are programs that trace what they start, and so cannot while that is traced
// by us: a thread has one tracer (ptrace(2)).
var tracers = []string{"dlv", "gdb", "gdbserver", "lldb-server", "ltrace", "rr", "strace"}

// warnings are what being traced changes for a program, said before it starts.
func warnings(path string) (lines []string) {
	name := filepath.Base(path)
	if lost := watch.PrivilegeLost(path); lost != "" {
		lines = append(lines, fmt.Sprintf("%s has %s, which the kernel ignores in a program that is traced: it runs without; as root, or with CAP_SYS_PTRACE, highwater leaves it that", name, lost))
	}
	if slices.Contains(tracers, name) {
		lines = append(lines, fmt.Sprintf("%s traces what it starts, and cannot here: a thread has one tracer, and it is highwater; start %s first, then highwater watch PID --figures-alone of its program, or run the program without %s", name, name, name))
	}
	return lines
}

// fallBack chooses a place for a recording where the usual one cannot be written: a
// program is not kept from starting for that. Without any, recording stays "".
func (p *plan) fallBack(why error) {
	p.notThere = why
	if dir, err := os.MkdirTemp("", "highwater-"); err == nil {
		p.recording = filepath.Join(dir, filepath.Base(p.args[0])+"-1"+suffix)
	}
}

// unrecorded runs the program as a shell would, where no recording can be written.
func (p *plan) unrecorded(s *streams) error {
	visible.Fprintf(s.err, "highwater: %s runs unwatched, as its recording can be written nowhere: %v\n  highwater run -o FILE writes it elsewhere\n", filepath.Base(p.args[0]), p.notThere)
	cmd := exec.Command(p.program, p.args[1:]...)
	cmd.Args[0], cmd.Dir, cmd.Env = p.args[0], p.dir, append(os.Environ(), p.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in, s.out, s.err
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, forwarded()...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return cannotRun(p.args[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			_ = cmd.Process.Signal(sig) // it may have ended
		case <-ended:
			return exitWith(exitCodeOf(cmd.ProcessState))
		}
	}
}
