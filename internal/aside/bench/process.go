package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// program is a process that the bench started, and what it prints.
type program struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

// hold starts a program that holds many allocation sites, and gives the address of
// its own endpoint.
func hold(r *room, sites int) (p *program, address string, err error) {
	if p, err = start(r.target, "-sites", strconv.Itoa(sites), "-do", "hold"); err != nil {
		return nil, "", err
	}
	if address, err = p.line("ready"); err != nil {
		p.stop()
		return nil, "", err
	}
	return p, address, nil
}

func start(name string, args ...string) (*program, error) {
	return startAs(exec.Command(name, args...))
}

// startAs starts what is described, and reads what it prints.
func startAs(cmd *exec.Cmd) (*program, error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &program{cmd, bufio.NewScanner(out)}, nil
}

// line is what follows a word on the next line that begins with it.
func (p *program) line(word string) (string, error) {
	for p.lines.Scan() {
		if rest, ok := strings.CutPrefix(p.lines.Text(), word+" "); ok {
			return rest, nil
		}
	}
	return "", fmt.Errorf("%s ended without the line %q: %w", p.cmd.Path, word, errors.Join(p.lines.Err(), p.cmd.Wait()))
}

// end waits for the program's own end, whatever its code.
func (p *program) end() error {
	if _, err := io.Copy(io.Discard, pipeOf(p)); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return nil
}

// pipeOf is the rest of the program's output.
func pipeOf(p *program) io.Reader {
	return readerFunc(func(b []byte) (int, error) {
		if p.lines.Scan() {
			return copy(b, p.lines.Bytes()), nil
		}
		return 0, io.EOF
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// stop kills the program and waits for it.
func (p *program) stop() {
	_ = p.cmd.Process.Kill() // gone already is as good
	_ = p.cmd.Wait()
}

func (p *program) pid() int { return p.cmd.Process.Pid }

// tick is what /proc counts CPU time in (proc_pid_stat(5)): USER_HZ, 100 on
// every Linux that Go runs on.
const tick = time.Second / 100

// cpuOf is the CPU time of a process so far, to 20 ms: fields 14 and 15 of
// /proc/PID/stat.
func cpuOf(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	var sum time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}

// ownCPU is the CPU time of the bench itself.
func ownCPU() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// figure reads "Name:   123 kB" from a file of /proc/PID.
func figure(pid int, file, name string) (sample.Bytes, error) {
	return figureIn(fmt.Sprintf("/proc/%d/%s", pid, file), name)
}

// figureIn reads it from any file.
func figureIn(path, name string) (sample.Bytes, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return sample.Bytes(n) * sample.KiB, err
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}
