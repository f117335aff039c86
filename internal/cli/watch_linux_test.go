package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/rpc/jsonrpc"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/record/recording"
)

// stranger is a program that was not started by highwater.
type stranger struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

func startStranger(t *testing.T, cmd *exec.Cmd) *stranger {
	t.Helper()
	s := &stranger{cmd: cmd}
	out, err := cmd.StdoutPipe()
	if err == nil {
		s.in, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.lines = bufio.NewScanner(out)
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return s
}

func (s *stranger) pid() string { return strconv.Itoa(s.cmd.Process.Pid) }

// inside is a command that moves itself into a cgroup, waits for a line, and
// becomes a program.
func inside(group *cgroup.Cgroup, args ...string) *exec.Cmd {
	return exec.Command("sh", append([]string{"-c", "echo $$ > " + group.Dir + `/cgroup.procs; echo there; read x; exec "$@"`, "sh"}, args...)...)
}

// From a container beside its target: one cgroup is both's, and it is full.
func TestAWatcherInItsTargetsCgroupSurvivesTheKill(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	group := hwtest.Limit(t, limit)
	marks := 0
	const kills = 10
	for range kills {
		target := startStranger(t, inside(group, testprog(t, "leak"), "-rate", "0"))
		target.lines.Scan()
		path := filepath.Join(t.TempDir(), "beside.hwm")
		b := launch(t, path, exec.Command("sh", "-c", "echo $$ > "+group.Dir+`/cgroup.procs; exec "$@"`, "sh",
			highwater(t), "watch", target.pid(), "--enable-heap-profile", "-o", path))
		b.await(t, "^watching ") // it is attached by then
		fmt.Fprintln(target.in)
		for target.lines.Scan() {
		}
		target.cmd.Wait()
		if code := b.end(t); code != 0 {
			t.Errorf("code %d:\n%s", code, b.seen.String())
		}
		m := deathMoment(t, path)
		if m == nil {
			t.Error("the kill was not seen")
			continue
		}
		p := m.Processes[0]
		late := strings.HasPrefix(p.Incomplete, "no time was left") // a busy machine: the kernel's two seconds were over
		if p.Signal != 9 || !late && (p.Go == nil || p.Incomplete != "" || p.Residency == nil || p.Profile == nil) {
			t.Errorf("signal %d, incomplete %q; figures %v, pages %v, profile %v", p.Signal, p.Incomplete, p.Go != nil, p.Residency != nil, p.Profile != nil)
		}
		switch {
		case p.Live != nil:
			marks++
		case !late && gapOf(t, path, "what was live") == "":
			t.Error("what was live is not marked, and nothing says why")
		}
	}
	if marks < kills/2 { // the kernel gives two seconds, and takes the pages then
		t.Errorf("what was live was marked at %d of %d kills", marks, kills)
	}
}

// gapOf is why something was not seen, "" if it was.
func gapOf(t *testing.T, path, what string) string {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	gaps, err := r.Gaps()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gaps {
		if strings.HasPrefix(g.What, what) {
			return g.Why
		}
	}
	return ""
}

func TestNothingThatAProgramDoesDiffersWhenItsWatchersAreKilled(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	worker := hwtest.Build(t, "testdata/worker", hwtest.BuildOptions{})
	begin := func() *stranger {
		cmd := exec.Command(worker)
		cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1") // Go's own signals interrupt calls too
		return startStranger(t, cmd)
	}
	result := func(s *stranger) (last string, code int) {
		for s.lines.Scan() {
			last = s.lines.Text()
		}
		s.cmd.Wait()
		return last, s.cmd.ProcessState.ExitCode()
	}
	want, _ := result(begin())
	if !strings.HasSuffix(want, " 0 interrupted, 0 signals") {
		t.Fatalf("unwatched, it says %q", want)
	}
	const lives, killsEach = 10, 5
	moments := rand.New(rand.NewPCG(1, 2))
	for range lives {
		s := begin()
		s.lines.Scan()
		for range killsEach {
			path := filepath.Join(t.TempDir(), "killed.hwm")
			watcher := exec.Command(highwater(t), "watch", s.pid(), "-q", "-o", path)
			if err := watcher.Start(); err != nil {
				t.Fatal(err)
			}
			for range 1 + moments.IntN(20) {
				s.lines.Scan()
			}
			watcher.Process.Kill()
			watcher.Wait()
		}
		if got, code := result(s); got != want || code != 7 {
			t.Errorf("watched, it says %q with code %d; else %q", got, code, want)
		}
	}
}

func TestAServiceThatIsStartedAgainGetsAnotherRecording(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	state := t.TempDir()
	dir := t.TempDir()
	service := filepath.Join(dir, "a-service-of-ours") // no other test's program is called so
	if err := os.Link(testprog(t, "ticker"), service); err != nil {
		b, _ := os.ReadFile(testprog(t, "ticker"))
		if err := os.WriteFile(service, b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(highwater(t), "watch", "a-service-of-ours")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	b := launch(t, "", cmd)
	b.await(t, `^no program called a-service-of-ours runs yet`)
	var recordings []string
	for range 2 {
		s := startStranger(t, exec.Command(service))
		recordings = append(recordings, b.await(t, `^watching a-service-of-ours, pid `+s.pid()+`; recording (.*)`)[1])
		s.cmd.Process.Signal(syscall.SIGTERM)
		b.await(t, `a-service-of-ours .*(stopped|exited)`)
	}
	b.signal(t, syscall.SIGINT)
	if code := b.end(t); code != 0 {
		t.Errorf("code %d:\n%s", code, b.seen.String())
	}
	for _, path := range recordings {
		if err := recording.Verify(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if recordings[0] == recordings[1] || !strings.HasPrefix(filepath.Base(recordings[0]), "a-service-of-ours-20") {
		t.Errorf("recordings %v", recordings)
	}
}

func TestACgroupIsWatchedInOneRecording(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	group := hwtest.Limit(t, limit)
	leak := startStranger(t, inside(group, testprog(t, "leak"), "-rate", "0"))
	steady := startStranger(t, inside(group, testprog(t, "steady"), "-live", "8MiB"))
	leak.lines.Scan()
	steady.lines.Scan()
	for name, given := range map[string]string{"its directory": group.Dir, "its path": group.Path} {
		path := filepath.Join(t.TempDir(), "cgroup.hwm")
		out, err := exec.Command(highwater(t), "watch", "--cgroup", given, "--for", "200ms", "-o", path).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "watching all in the cgroup "+group.Path+"; recording ") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	path := filepath.Join(t.TempDir(), "cgroup.hwm")
	b := launch(t, path, exec.Command(highwater(t), "watch", "--cgroup", group.Dir, "--enable-heap-profile", "-o", path))
	b.await(t, `^watching `)
	fmt.Fprintln(steady.in)
	fmt.Fprintln(leak.in)
	for leak.lines.Scan() {
	}
	steady.cmd.Process.Kill()
	if code := b.end(t); code != 0 || !strings.Contains(b.seen.String(), "it hit its 256 MiB memory limit") {
		t.Errorf("code %d:\n%s", code, b.seen.String())
	}
}

func TestAProgramUnderADebuggerIsWatchedWithoutItsLastBreath(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds delve")
	}
	hwtest.Need(t, hwtest.Ptrace)
	dlv := hwtest.Module(t, "github.com/go-delve/delve@v1.27.2", "cmd/dlv", hwtest.BuildOptions{})
	s, debugger := debugged(t, dlv, testprog(t, "ticker"))
	path := filepath.Join(t.TempDir(), "debugged.hwm")
	out, err := exec.Command(highwater(t), "watch", s.pid(), "--for", "1s", "-o", path).CombinedOutput()
	traces := "dlv (pid " + debugger.pid() + ") already traces the process"
	if err != nil || !strings.Contains(string(out), traces) || !strings.Contains(string(out), "ticker was watched for") {
		t.Errorf("%v\n%s", err, out)
	}
	// Delve holds it, as it did before.
	if state, err := os.ReadFile("/proc/" + s.pid() + "/status"); err != nil || !strings.Contains(string(state), "t (tracing stop)") {
		t.Errorf("%v\n%s", err, state)
	}
}

// debugged is a program that delve holds: it says that it listens before it
// attaches, which fails at times, and answers once it is attached.
func debugged(t *testing.T, dlv, program string) (held, by *stranger) {
	t.Helper()
	const attempts = 20
	for range attempts {
		held = startStranger(t, exec.Command(program, "-for", "1m"))
		held.lines.Scan()
		attach := exec.Command(dlv, "attach", held.pid(), "--headless", "--accept-multiclient", "--listen", "127.0.0.1:0")
		var failed strings.Builder
		attach.Stderr = &failed
		by = startStranger(t, attach)
		for by.lines.Scan() {
			if _, address, ok := strings.Cut(by.lines.Text(), "listening at: "); ok && answers(t, address) {
				return held, by
			}
		}
		by.cmd.Wait()
		t.Logf("the debugger: %s", failed.String())
	}
	t.Fatalf("the debugger did not attach in %d attempts", attempts)
	return nil, nil
}

// answers asks delve for the state of its target, and waits for it.
func answers(t *testing.T, address string) bool {
	client, err := jsonrpc.Dial("tcp", address)
	if err != nil {
		return false
	}
	defer client.Close()
	var state any
	if err := client.Call("RPCServer.State", map[string]bool{"NonBlocking": true}, &state); err != nil {
		t.Logf("the debugger does not say its target's state: %v", err)
		return false
	}
	return true
}

// nobody has no capability at all.
const nobody = 65534

func TestAProgramOfTheSameUserNeedsNoRights(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace)
	dir, err := os.MkdirTemp("", "watch-nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	// Its tree of directories is root's alone; a descriptor needs none.
	as := func(uid int, program string, args ...string) *exec.Cmd {
		f, err := os.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		cmd := exec.Command("/proc/self/fd/3", args...)
		cmd.ExtraFiles = []*os.File{f}
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		return cmd
	}
	t.Run("its own", func(t *testing.T) {
		s := startStranger(t, as(nobody, testprog(t, "ticker")))
		s.lines.Scan()
		path := filepath.Join(dir, "own.hwm")
		b := launch(t, path, as(nobody, highwater(t), "watch", s.pid(), "-o", path))
		b.await(t, `^watching ticker`)
		s.cmd.Process.Kill()
		if code := b.end(t); code != 0 {
			t.Errorf("code %d:\n%s", code, b.seen.String())
		}
		m := deathMoment(t, path)
		if m == nil || m.Processes[0].Go == nil || m.Processes[0].Residency == nil {
			t.Errorf("the moment of its end: %+v\n%s", m, b.seen.String())
		}
	})
	t.Run("another's", func(t *testing.T) {
		s := startStranger(t, as(nobody-1, testprog(t, "ticker"), "-for", "3s"))
		s.lines.Scan()
		out, err := as(nobody, highwater(t), "watch", s.pid()).CombinedOutput()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 5 {
			t.Errorf("%v, want code 5:\n%s", err, out)
		}
		for _, says := range []string{"the process belongs to user 65533, and highwater runs as user 65534", "CAP_SYS_PTRACE", "--rss-only"} {
			if !strings.Contains(string(out), says) {
				t.Errorf("it does not say %q:\n%s", says, out)
			}
		}
		path := filepath.Join(dir, "others.hwm")
		out, err = as(nobody, highwater(t), "watch", s.pid(), "--rss-only", "-o", path).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "the kernel's figures alone") || !strings.Contains(string(out), "the state at the exit cannot be captured") {
			t.Errorf("%v:\n%s", err, out)
		}
		if err := recording.Verify(path); err != nil {
			t.Error(err)
		}
	})
}

// In a PID namespace of its own "all" is what the test starts.
func TestAllGoProgramsAreWatchedEachByItself(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace, hwtest.Program("unshare"))
	state := t.TempDir()
	script := fmt.Sprintf(`%s -for 30s >/dev/null & %s -live 4MiB -for 30s >/dev/null & %s >/dev/null & p=$!; %s watch --all --at-most 3 --for 2s; kill $p`,
		testprog(t, "ticker"), testprog(t, "steady"), testprog(t, "neverready"), highwater(t))
	cmd := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", script)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	made, err := filepath.Glob(filepath.Join(state, "highwater", "*.hwm"))
	if err != nil || len(made) != 3 || !slices.ContainsFunc(made, func(p string) bool { return strings.HasPrefix(filepath.Base(p), "steady-") }) {
		t.Errorf("recordings %v, %v\n%s", made, err, out)
	}
	for _, says := range []string{"every Go program, 3 at most", "detached from ticker", "detached from steady"} {
		if !strings.Contains(string(out), says) {
			t.Errorf("it does not say %q:\n%s", says, out)
		}
	}
}
