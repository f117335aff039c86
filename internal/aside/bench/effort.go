package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// effort is what one command took.
type effort struct {
	output []byte
	took   time.Duration // wall time
	cpu    time.Duration // user and system
	peak   sample.Bytes  // largest resident set
}

// run lets a command work, for so long at most, with all that it starts.
func run(limit time.Duration, name string, args ...string) (*effort, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	peak := largest(cmd.Process.Pid)
	err := cmd.Wait()
	e := &effort{out.Bytes(), time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak()}
	if ctx.Err() != nil {
		return e, fmt.Errorf("not done after %s, with %.1f GB of memory", limit, float64(e.peak)/1e9)
	}
	if err != nil {
		return e, fmt.Errorf("%w: %s", err, lastLine(complaints.String()))
	}
	return e, nil
}

// largest follows the largest resident set of a process until it is asked for it. It is
// VmHWM, looked at every 5 ms: what wait4 says of a child begins with the size
// of the parent that forked it (fs/exec.c, exec_mmap).
func largest(pid int) func() sample.Bytes {
	stop, found := make(chan bool), make(chan sample.Bytes)
	go func() {
		every := time.NewTicker(5 * time.Millisecond)
		defer every.Stop()
		var peak sample.Bytes
		for {
			select {
			case <-stop:
				found <- peak
				return
			case <-every.C:
				if now, err := figure(pid, "status", "VmHWM"); err == nil {
					peak = now
				}
			}
		}
	}()
	return func() sample.Bytes {
		close(stop)
		return <-found
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
