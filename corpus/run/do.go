package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/corpus/truth"
)

// do does r and writes its truth, unless both are there already. What it says is
// for the log.
func (b *bench) do(ctx context.Context, r *run) (said string, err error) {
	program, sum, err := b.builder.build(ctx, r)
	if err != nil {
		return "", err
	}
	r.Program = sum
	r.Command = strings.Join(r.programArgs("127.0.0.1:PORT"), " ")
	t, err := r.truth("made")
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.dir, r.name+truth.Suffix)
	if kept(file, t) {
		return "kept", t.Write(file)
	}
	began := time.Now()
	code, err := b.record(ctx, r, program, truth.Recording(file))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("ended with %d after %.1f s", code, time.Since(began).Seconds()), t.Write(file)
}

// kept reports whether the recording at file is of the same run of the same program. What is accepted of it may have
// changed.
func kept(file string, t *truth.Truth) bool {
	old, err := truth.Read(file)
	if err != nil || old.Run != t.Run {
		return false
	}
	_, err = os.Stat(truth.Recording(file))
	return err == nil
}

// record runs highwater, and gives the code that the program ended with.
func (b *bench) record(ctx context.Context, r *run, program, recording string) (code int, err error) {
	dir, err := os.MkdirTemp(b.dir, "run-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	args, err := r.line(program, recording)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(r.Seconds*float64(time.Second))+2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, b.tool, args...)
	c.Dir, c.Env = dir, r.env()
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 20 * time.Second
	out, err := c.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return 0, err
	}
	if info, statErr := os.Stat(recording); statErr != nil || info.Size() == 0 {
		return 0, fmt.Errorf("highwater %s: no recording: %w\n%s", strings.Join(args, " "), err, out)
	}
	return c.ProcessState.ExitCode(), ctx.Err()
}

// env is the environment without what would change the program's collector.
func (r *run) env() (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOGC=") && !strings.HasPrefix(v, "GOMEMLIMIT=") && !strings.HasPrefix(v, "GODEBUG=") {
			env = append(env, v)
		}
	}
	if r.GOGC != "" {
		env = append(env, "GOGC="+r.GOGC)
	}
	if r.GOMEMLIMIT > 0 {
		env = append(env, "GOMEMLIMIT="+strconv.FormatInt(r.GOMEMLIMIT, 10))
	}
	return append(env, strings.Fields(r.setting)...) // of two values the last counts
}

// line is highwater's command line. A server is stopped when its load ends; what
// ends by itself has time enough for that.
func (r *run) line(program, recording string) ([]string, error) {
	os.Remove(recording)
	args := []string{"run", "-q", "-o", recording}
	if r.Limit > 0 {
		args = append(args, "--limit", strconv.FormatInt(r.Limit, 10))
	}
	address := "127.0.0.1:0"
	if r.server {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		address = "127.0.0.1:" + port
		load := append([]string{program, "-client"}, r.amounts(address, true)...)
		args = append(args, "--ready", port, "--load", strings.Join(load, " "))
	} else {
		end := r.Seconds
		if !r.Stopped {
			end = r.Seconds*3 + 20
		}
		args = append(args, "--for", fmt.Sprintf("%.1fs", end))
	}
	return append(append(args, "--", program), r.programArgs(address)...), nil
}

// programArgs is the program's command line.
func (r *run) programArgs(address string) []string {
	args := append([]string{}, r.args...)
	if !r.faulty && !r.innocent {
		args = append(args, "-repaired")
	}
	if r.soft > 0 {
		args = append(args, "-soft", strconv.FormatInt(r.soft, 10))
	}
	return append(args, r.amounts(address, false)...)
}

// amounts are the flags of package frame.
func (r *run) amounts(address string, load bool) []string {
	long := time.Duration(r.Seconds * float64(time.Second))
	if !load && (r.Stopped || r.server) {
		long = 0
	}
	return []string{"-background", r.Background, "-rate", fmt.Sprint(r.Rate), "-unit", fmt.Sprint(r.Unit),
		"-total", fmt.Sprint(r.Total), "-for", long.String(), "-addr", address}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
