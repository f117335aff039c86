package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// memleakRow is what a pair of malloc and free takes while bcc's memleak follows it. That compiles its program
// against kernel headers: those of Debian's kernels do for others, too, as it reads registers alone. BCC_KERNEL_SOURCE says
// where they are.
func (r *room) memleakRow(target string) (*row, error) {
	one := &row{What: "A pair of malloc and free of some 150 bytes, bcc's memleak", Figure: "not run", Pass: true}
	tool, err := exec.LookPath("memleak-bpfcc")
	if err != nil {
		one.More = "it is not installed: Debian has it in bpfcc-tools"
		return one, nil
	}
	headers, err := r.kernelHeaders()
	if err != nil {
		return nil, err
	}
	var took []float64
	for range r.least(3) {
		ns, err := r.timedWith(func(pid int) (*program, error) { return followByMemleak(tool, headers, pid) }, []string{target, "-do", "pairs", "-n", "100000"})
		if err != nil {
			one.More = "it failed: " + strings.ReplaceAll(err.Error(), "\n", " ")
			return one, nil
		}
		took = append(took, ns)
	}
	slices.Sort(took)
	one.Figure = fmt.Sprintf("%.0f ns", took[len(took)/2])
	one.More = fmt.Sprintf("100,000 pairs, median of %d, %.0f to %.0f ns of the program's processor time; by probes at malloc and free, each call looked at, without a line of Go",
		len(took), took[0], took[len(took)-1])
	return one, nil
}

// kernelHeaders is a folder with those that the environment names, else with Debian's newest, which are two folders and
// are put into one; "" where there are none.
func (r *room) kernelHeaders() (string, error) {
	if set := os.Getenv("BCC_KERNEL_SOURCE"); set != "" {
		return set, nil
	}
	found, err := filepath.Glob("/usr/src/linux-headers-*-amd64")
	if err != nil || len(found) == 0 {
		return "", err
	}
	build, dir := found[len(found)-1], filepath.Join(r.dir, "headers")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for _, from := range []string{strings.TrimSuffix(build, "amd64") + "common", build} {
		if out, err := exec.Command("cp", "-asf", from+"/include", from+"/arch", dir).CombinedOutput(); err != nil {
			return "", fmt.Errorf("put the kernel headers together: %w: %s", err, out)
		}
	}
	return dir, nil
}

// memleakWait is how long it may take to compile its program.
const memleakWait = time.Minute

// followByMemleak has it follow a process, and returns once it does.
func followByMemleak(tool, headers string, pid int) (*program, error) {
	cmd := exec.Command(tool, "-p", strconv.Itoa(pid), "1")
	cmd.Env = append(os.Environ(), "BCC_KERNEL_SOURCE="+headers)
	out, err := os.CreateTemp("", "memleak-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = errors.Join(out.Close(), os.Remove(out.Name())) }()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &program{cmd: cmd, lines: bufio.NewScanner(strings.NewReader(""))}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for began := time.Now(); time.Since(began) < memleakWait; time.Sleep(100 * time.Millisecond) {
		text, err := os.ReadFile(out.Name())
		if err != nil {
			break
		}
		if strings.Contains(string(text), "outstanding allocations") {
			return p, nil
		}
		select {
		case err := <-ended:
			return nil, fmt.Errorf("%s ended: %w: %s", tool, cmp.Or(err, os.ErrProcessDone), text)
		default:
		}
	}
	p.stop()
	return nil, fmt.Errorf("%s did not begin within %v", tool, memleakWait)
}
