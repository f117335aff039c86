package howto

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// howtos are the pages whose commands are run, with what must be said when they are.
var howtos = map[string][]string{
	"oomkilled": {"server was OOM-killed after", "hit its 128 MiB memory limit", "allocated at sessions/main.go:27",
		"retained by (*store).sessions (map[string]*session",
		"proved: 3 of 3 survived", "killed 3 of 3"},
	"slow-leak":        {"server was watched for 20 s", "leak.", "sessions/main.go:27", "(*store).sessions", "sessions[].data"},
	"choose-limits":    {"smallest limit:", "FIX GOMEMLIMIT=", "survived 3 of 3", "limited"},
	"native-memory":    {"native was OOM-killed after", "Native memory, allocated outside Go", "The Go heap was only"},
	"compare-releases": {"sessions/main.go:27", "old", "new"},
	"read-the-page":    {"server was OOM-killed after"},
}

// Each how-to is tried as it is written: its commands, in their order, in a network of their
// own, with the programs that docs/howto/README.md builds.
func TestEachHowToWorksAsItIsWritten(t *testing.T) {
	hwtest.Slow(t, "runs each page's programs into their limits")
	hwtest.Need(t, hwtest.Ptrace, hwtest.Root, hwtest.Cgroup)
	bin := t.TempDir()
	programs := map[string]string{
		"highwater": hwtest.Build(t, "../../../cmd/highwater", hwtest.BuildOptions{}),
		"server":    hwtest.Build(t, "../../../examples/sessions", hwtest.BuildOptions{}),
		"load":      hwtest.Build(t, "../../../examples/sessions/load", hwtest.BuildOptions{}),
		"batch":     hwtest.Build(t, "../testprog/garbage", hwtest.BuildOptions{}),
		"native":    hwtest.Build(t, "../testprog/mmapper", hwtest.BuildOptions{}),
	}
	for name, path := range programs {
		copyProgram(t, path, filepath.Join(bin, name))
	}
	pages, err := filepath.Glob("../../../docs/howto/*.md")
	if err != nil || len(pages) != len(howtos)+1 {
		t.Fatalf("%d pages, %d of them tried: %v", len(pages), len(howtos), err)
	}
	for name, want := range howtos {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := followed(t, "../../../docs/howto/"+name+".md", bin)
			for _, words := range want {
				if !strings.Contains(said, words) {
					t.Errorf("%q is not said:\n%s", words, said)
				}
			}
		})
	}
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// followed runs the commands of a page in an empty folder that has the programs, and gives
// what they say, as one line. A command that fails ends it.
func followed(t *testing.T, page, bin string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var script []string
	quoted := false // what a command prints, and commands for other machines
	for _, line := range strings.Split(string(text), "\n") {
		quoted = quoted != strings.HasPrefix(line, "```")
		if command, ok := strings.CutPrefix(line, "    "); ok && !quoted {
			script = append(script, command)
		}
	}
	if len(script) < 2 {
		t.Fatalf("%s has %d commands", page, len(script))
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(bin)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-exc", strings.Join(script, "\n"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+t.TempDir(), "COLUMNS=100")
	out, err := inOwnNetwork(cmd)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return regexp.MustCompile(`\s+`).ReplaceAllString(string(out), " ")
}

// inOwnNetwork runs a command where nobody else has a port: in a network namespace with
// nothing but the loopback device.
func inOwnNetwork(cmd *exec.Cmd) (out []byte, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with its namespace
		if err = unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return
		}
		if err = loopbackUp(); err != nil {
			return
		}
		out, err = cmd.CombinedOutput()
	}()
	<-done
	return out, err
}

func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	lo, err := unix.NewIfreq("lo")
	if err == nil {
		lo.SetUint16(unix.IFF_UP)
		err = unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo)
	}
	return errors.Join(err, unix.Close(s))
}
