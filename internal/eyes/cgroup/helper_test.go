package cgroup_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// helperVariable makes the test's own executable a program that obeys the lines
// it is given and answers each with one. It needs no toolchain, hence runs in
// the guest as well.
const helperVariable = "CGROUP_TEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) == "" {
		os.Exit(m.Run())
	}
	var o obedient
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(strings.ReplaceAll(o.obey(lines.Text()), "\n", " "))
	}
}

// obedient is the state of a helper.
type obedient struct {
	memory  []byte
	created *cgroup.Cgroup
}

func (o *obedient) obey(line string) string {
	h, err := cgroup.Detect("/")
	if err != nil {
		return err.Error()
	}
	var verb string
	var n int
	fmt.Sscan(line, &verb, &n)
	switch verb {
	case "touch":
		o.memory = make([]byte, n)
		for i := range o.memory {
			o.memory[i] = byte(i)
		}
	case "where":
		var path string
		if path, err = h.Find(os.Getpid()); err == nil {
			return path
		}
	case "create":
		o.created, err = h.Create(cgroup.Options{Name: "helper", Limit: sample.Bytes(n)})
		if err == nil {
			return o.created.Path
		}
	case "add":
		err = o.created.Add(n)
	case "clean":
		var removed []string
		if removed, err = h.CleanStale(); err == nil {
			return strings.Join(removed, " ")
		}
	case "remove":
		err = o.created.Remove(context.Background())
	}
	if err != nil {
		return "error: " + err.Error()
	}
	return "done"
}

// helper is a program of the test's own, which lives until it is killed or the
// test ends.
type helper struct {
	*exec.Cmd
	stdin  io.Writer
	stdout *bufio.Reader
}

// startHelper starts one under that uid.
func startHelper(t *testing.T, uid int) *helper {
	t.Helper()
	hwtest.Slow(t, "starts a program")
	// Through /proc another uid reaches an executable in a private directory.
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), helperVariable+"=1", "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	if uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &helper{Cmd: cmd, stdin: stdin, stdout: bufio.NewReader(stdout)}
	t.Cleanup(func() { p.kill() })
	return p
}

// ask gives its answer to a line, "" if it died of it.
func (p *helper) ask(line string, args ...any) string {
	fmt.Fprintln(p.stdin, append([]any{line}, args...)...)
	answer, _ := p.stdout.ReadString('\n')
	return strings.TrimSuffix(answer, "\n")
}

func (p *helper) kill() {
	p.Process.Kill()
	p.Wait()
}
