package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/record/recording"
)

// inTrial is a try or a fit that runs while the test does something to it. What it
// starts carries a mark in its environment, by which it is found again.
type inTrial struct {
	*background
	mark, folder, temp string
	told               *os.File // what its children write to $TELL
}

// beginTrial starts it in a folder.
func beginTrial(t *testing.T, dir, command string, args ...string) inTrial {
	t.Helper()
	b := inTrial{folder: filepath.Join(t.TempDir(), "kept"), temp: t.TempDir()}
	b.mark = "HIGHWATER_TEST_MARK=" + b.temp
	tell := filepath.Join(t.TempDir(), "tell")
	if err := syscall.Mkfifo(tell, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if b.told, err = os.OpenFile(tell, os.O_RDWR|syscall.O_NONBLOCK, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.told.Close() })
	cmd := exec.Command(highwater(t), append([]string{command, "-o", b.folder}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), b.mark, "TMPDIR="+b.temp, "TELL="+tell)
	b.background = launch(t, "", cmd)
	return b
}

// isTold awaits a word of one of its children.
func (b inTrial) isTold(t *testing.T) {
	t.Helper()
	if err := b.told.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if n, err := b.told.Read(make([]byte, 16)); n == 0 {
		t.Fatalf("nothing was told: %v", err)
	}
}

// leavesNothing checks that it is gone, and that the recordings are whole.
func (b inTrial) leavesNothing(t *testing.T) {
	t.Helper()
	b.isGone(t)
	kept, err := filepath.Glob(filepath.Join(b.folder, "*.hwm"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range kept {
		if err := recording.Verify(path); err != nil {
			t.Errorf("verify %s: %v", path, err)
		}
	}
}

// isGone checks that no process, no cgroup and no worktree is there any more.
func (b inTrial) isGone(t *testing.T) {
	t.Helper()
	if left := b.processes(t); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if left := b.cgroups(t); len(left) > 0 {
		t.Errorf("cgroups are left: %v", left)
	}
	if left, err := os.ReadDir(b.temp); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// processes are the command lines of those that carry the mark.
func (b inTrial) processes(t *testing.T) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		env, _ := os.ReadFile(path) // gone, or not ours
		if strings.Contains(string(env), b.mark) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// awaitEmpty returns when what was killed has gone: the kernel does that in its time.
func (b inTrial) awaitEmpty(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patience); len(b.processes(t)) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("processes are left: %v", b.processes(t))
		}
	}
}

// repository is a git repository with one commit.
func repository(t *testing.T) string {
	t.Helper()
	hwtest.Need(t, hwtest.Program("git"))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=You", "-c", "user.email=you@example.org", "commit", "-q", "-m", "one"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

func TestAnInterruptedTryLeavesNothing(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace, hwtest.Root, hwtest.Cgroup)
	leak, steady := testprog(t, "leak")+" -rate 200MiB", testprog(t, "steady")+" -live 8MiB"
	const told = "a word of a child"
	for _, c := range []struct {
		name  string
		args  []string
		await string // after which the signal is sent: a line, told, or "" for at once
		says  string
	}{
		{"at once", []string{"base=" + leak, "b=" + steady}, "", ""},
		{"while a worktree is built", []string{"--git", "HEAD", "--build", "trap '' TERM; sleep 600 & echo >$TELL; sleep 600", "base=" + leak}, told, ""},
		{"while the base runs first", []string{"base=sh -c 'echo >$TELL; exec " + steady + " -for 600s'", "b=" + steady}, told, ""},
		{"while a run is prepared", []string{"base=" + leak, "b=" + steady, "--prepare", "trap '' TERM; sleep 600 & echo >$TELL; sleep 600"}, told, ""},
		{"while the load runs", []string{"base=" + steady, "b=" + steady, "--load", "trap '' TERM; sleep 600 & echo >$TELL; sleep 600"}, told, ""},
		{"while the load runs in a session of its own", []string{"base=" + steady, "b=" + steady, "--load",
			"trap '' TERM; setsid sleep 600 & echo >$TELL; setsid -w sleep 600"}, told, ""},
		{"of a program that does not end when asked", []string{"--grace", "100ms", "base=sh -c 'trap \"\" TERM; echo >$TELL; while :; do sleep 0.05; done'",
			"b=" + steady}, told, ""},
		{"between the rounds", []string{"base=" + leak, "b=" + steady + " -for 100ms", "--git", "HEAD"}, `^2 of 18 `, "interrupted after [0-9]+ of 18 runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := beginTrial(t, repository(t), "try", append([]string{"--limit", "64MiB"}, c.args...)...)
			switch c.await {
			case "":
			case told:
				b.isTold(t)
			default:
				b.await(t, c.await)
			}
			b.signal(t, syscall.SIGTERM)
			code := b.end(t)
			if atOnce := c.await == "" && code == 143; code != 130 && !atOnce { // before it listens, the signal ends it
				t.Errorf("code %d, want 130:\n%s", code, b.seen.String())
			}
			if !regexp.MustCompile(c.says).MatchString(b.seen.String()) {
				t.Errorf("it does not say %q:\n%s", c.says, b.seen.String())
			}
			b.leavesNothing(t)
		})
	}
}

func TestAKilledTryTakesItsProgramAndItsLoadWithIt(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace, hwtest.Root, hwtest.Cgroup)
	steady := testprog(t, "steady") + " -live 8MiB"
	for _, c := range []struct {
		name string
		args []string
	}{
		{"a program", []string{"base=sh -c 'echo >$TELL; exec " + steady + "'"}},
		{"what the program has started", []string{"base=sh -c 'sleep 600 & echo >$TELL; wait'"}},
		{"a program that does not listen", []string{"base=sh -c 'trap \"\" TERM INT HUP; echo >$TELL; while :; do sleep 0.05; done'"}},
		{"the load", []string{"base=" + steady, "--load", "echo >$TELL; exec sleep 600"}},
		{"what the load has started", []string{"base=" + steady, "--load", "sleep 600 & sleep 601 & echo >$TELL; wait"}},
		{"a load that does not listen", []string{"base=" + steady, "--load", "trap '' TERM INT HUP; (while :; do sleep 0.05; done) & echo >$TELL; wait"}},
		{"what the load has started in a session of its own", []string{"base=" + steady, "--load",
			"setsid sleep 600 & setsid sh -c 'trap \"\" TERM; sleep 601; sleep 602' & echo >$TELL; wait"}},
		{"what is prepared", []string{"base=" + steady, "--prepare", "sleep 601 & echo >$TELL; exec sleep 600"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := beginTrial(t, t.TempDir(), "try", append([]string{"--compare"}, c.args...)...)
			b.isTold(t)
			b.signal(t, syscall.SIGKILL)
			b.end(t)
			b.awaitEmpty(t)
			// The next run removes what is left of its cgroup.
			if out, err := exec.Command(highwater(t), "run", "-q", "-o", filepath.Join(t.TempDir(), "next"), "--", testprog(t, "quick")).CombinedOutput(); err != nil {
				t.Fatalf("the next run: %v\n%s", err, out)
			}
			b.isGone(t)
		})
	}
}

func TestALoadThatIsOverLeavesNothing(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace, hwtest.Root, hwtest.Cgroup)
	steady := testprog(t, "steady") + " -live 8MiB"
	b := beginTrial(t, t.TempDir(), "try", "--compare", "--runs", "1", "base="+steady, "--load",
		"sleep 600 & sleep 601 >/dev/null 2>&1 & setsid sleep 602 & echo >$TELL")
	b.isTold(t)
	if code := b.end(t); code != 0 {
		t.Errorf("code %d:\n%s", code, b.seen.String())
	}
	b.awaitEmpty(t)
	b.leavesNothing(t)
}

func TestAnInterruptedFitLeavesNothing(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace, hwtest.Root, hwtest.Cgroup)
	steady := []string{"--", testprog(t, "steady"), "-live", "8MiB"}
	for _, c := range []struct{ name, await, seconds string }{
		{"in the free run", "", "600s"},
		{"under a limit", `^as it is: searching`, "300ms"},
		{"while it confirms", `confirming`, "300ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := beginTrial(t, t.TempDir(), "fit", append([]string{"--prepare", "echo >$TELL"}, append(steady, "-for", c.seconds)...)...)
			b.isTold(t)
			if c.await != "" {
				b.await(t, c.await)
			}
			b.signal(t, syscall.SIGINT)
			if code := b.end(t); code != 130 || !strings.Contains(b.seen.String(), "interrupted; the recordings are in "+b.folder) {
				t.Errorf("code %d, want 130:\n%s", code, b.seen.String())
			}
			b.leavesNothing(t)
		})
	}
}
