package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
)

const (
	readyPoll    = 50 * time.Millisecond
	readyAttempt = 2 * time.Second
	tailBytes    = 4096
)

// readiness is how --ready is answered: a TCP port, or a URL.
type readiness struct {
	url  string // http or https
	addr string // host:port
}

// parseReady reads --ready: a port, host:port or a URL.
func parseReady(s string) (readiness, error) {
	hint := "write a port (8080), host:port or a URL (http://127.0.0.1:8080/healthz)"
	switch {
	case s == "":
		return readiness{}, nil
	case strings.HasPrefix(s, "http://"), strings.HasPrefix(s, "https://"):
		return readiness{url: s}, nil
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = "127.0.0.1", strings.TrimPrefix(s, ":")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return readiness{}, Usagef(hint, "--ready %q is neither a port nor a URL", s)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return readiness{addr: net.JoinHostPort(host, port)}, nil
}

// wait returns when the program answers, or ctx's error. A URL answers with any
// status below 500.
func (r readiness) wait(ctx context.Context) error {
	if r == (readiness{}) {
		return nil
	}
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		if r.answers(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (r readiness) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, readyAttempt)
	defer cancel()
	if r.addr != "" {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.addr)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode < 500
}

func (r readiness) String() string {
	if r.url != "" {
		return r.url
	}
	return r.addr
}

// runLoad runs a shell command to its end. Its output goes to w, and the last
// of it is returned with the exit code (128+n for a signal); err says that it
// could not be started. What it leaves running ends with it, in its process group
// and in group, where there is one: it is over.
func runLoad(ctx context.Context, command string, group *cgroup.Cgroup, w io.Writer) (code int, output string, err error) {
	code, output, err = runShell(ctx, shell{command: command, group: group}, w)
	if err != nil {
		err = fmt.Errorf("start the load: %w", err)
	}
	return code, output, err
}

// shell is a command for /bin/sh.
type shell struct {
	command, dir string
	leaves       bool           // what it has started may live on when it comes to its end
	group        *cgroup.Cgroup // it runs in there; nil: in ours
}

// gate lets a command begin when there is somebody to end it with us.
const gate = `read -r go && exec /bin/sh -c "$0" </dev/null`

// runShell runs it. Where ctx ends, or we do, all that it started in its process group
// and its cgroup ends.
func runShell(ctx context.Context, sh shell, w io.Writer) (code int, output string, err error) {
	keep := &tail{w: w}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", gate, sh.command)
	cmd.Dir = sh.dir
	cmd.Stdout, cmd.Stderr = keep, keep
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	err = sh.runGuarded(cmd, func() bool { return ctx.Err() != nil || !sh.leaves })
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		return exitCodeOf(exit.ProcessState), string(keep.last), nil
	case ctx.Err() != nil && cmd.ProcessState != nil: // it was told to end, and did with code 0
	case errors.Is(err, exec.ErrWaitDelay):
	default:
		return 0, "", err
	}
	return 0, string(keep.last), nil
}

// runGuarded runs it behind its gate, and ends what is left of it where all says so.
func (sh shell) runGuarded(cmd *exec.Cmd, all func() bool) error {
	open, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	release, err := endWithUs(cmd, sh.groupDir())
	if err != nil {
		return errors.Join(err, open.Close(), cmd.Wait())
	}
	if sh.group != nil {
		_ = sh.group.Add(cmd.Process.Pid) // refused, or it was killed meanwhile: its process group is left
	}
	_, _ = io.WriteString(open, "go\n") // it was killed meanwhile: Wait tells
	_ = open.Close()
	err = cmd.Wait()
	if all() {
		sh.end(cmd)
	}
	release()
	return err
}

// groupDir is its cgroup's directory, "" without one.
func (sh shell) groupDir() string {
	if sh.group == nil {
		return ""
	}
	return sh.group.Dir
}

// end kills what is left of it. What has left its process group is still in its cgroup.
func (sh shell) end(cmd *exec.Cmd) {
	endGroup(cmd)
	if sh.group != nil {
		_ = sh.group.Kill() // removing the cgroup tells what is left
	}
}

// tail passes writes on, as far as anybody reads them, and keeps the last
// tailBytes.
type tail struct {
	w    io.Writer
	last []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	if n := len(t.last) - tailBytes; n > 0 {
		t.last = append(t.last[:0], t.last[n:]...)
	}
	_, _ = t.w.Write(p) // the load goes on without a reader
	return len(p), nil
}
