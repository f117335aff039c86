package hwtest

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Piped is a program that runs with pipes as its input and output.
type Piped struct {
	PID int
	In  io.WriteCloser
	Out *bufio.Reader
	// Wait waits for its end and may be called again.
	Wait func() error

	t testing.TB
}

// StartPiped starts a command. With the test its input ends, and it does.
func StartPiped(t testing.TB, cmd *exec.Cmd) *Piped {
	t.Helper()
	Slow(t, "starts a program")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &Piped{PID: cmd.Process.Pid, In: in, Out: bufio.NewReader(out), Wait: sync.OnceValue(cmd.Wait), t: t}
	t.Cleanup(func() { in.Close(); cmd.Process.Kill(); p.Wait() })
	return p
}

// Line is the next line that it prints, without its end.
func (p *Piped) Line() string {
	p.t.Helper()
	line, err := p.Out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("the program ended: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// Ask has it obey a line, and gives the lines of its answer up to END.
func (p *Piped) Ask(format string, args ...any) (lines []string) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.In, format+"\n", args...); err != nil {
		p.t.Fatal(err)
	}
	for line := p.Line(); line != "END"; line = p.Line() {
		lines = append(lines, line)
	}
	return lines
}
