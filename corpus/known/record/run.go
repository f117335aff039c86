package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/corpus/truth"
)

// record runs highwater, and gives the code that the program ended with.
func (b *bench) record(ctx context.Context, t *truth.Truth, binary, recording string) (code int, err error) {
	dir, err := os.MkdirTemp(b.dir, "run-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	os.Remove(recording)
	args := []string{"run", "-q", "-o", recording}
	if t.Run.Limit > 0 {
		args = append(args, "--limit", strconv.FormatInt(t.Run.Limit, 10))
	}
	args = append(append(args, "--", binary), strings.Fields(t.Run.Command)...)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(t.Run.Seconds*float64(time.Second))+2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, b.tool, args...)
	c.Dir, c.Env = dir, append(plain(os.Environ()), "TMPDIR="+dir)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 20 * time.Second
	out, err := c.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return 0, err
	}
	if info, err := os.Stat(recording); err != nil || info.Size() == 0 {
		return 0, fmt.Errorf("highwater %s: no recording\n%s", strings.Join(args, " "), out)
	}
	return c.ProcessState.ExitCode(), ctx.Err()
}

// plain is the environment without what would change the program's collector.
func plain(all []string) (env []string) {
	for _, v := range all {
		if !strings.HasPrefix(v, "GOGC=") && !strings.HasPrefix(v, "GOMEMLIMIT=") && !strings.HasPrefix(v, "GODEBUG=") {
			env = append(env, v)
		}
	}
	return env
}

func sum(file string) (string, error) {
	text, err := os.ReadFile(file)
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}
