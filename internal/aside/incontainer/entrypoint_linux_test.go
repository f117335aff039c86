package incontainer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// noPtrace is a seccomp profile as some sandboxes have it.
const noPtrace = `{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["ptrace", "process_vm_readv"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}`

// withoutPtrace is the option of podman run that forbids ptrace.
func withoutPtrace(t *testing.T) string { return seccomp(t, noPtrace) }

// seccomp is the option of podman run for a profile.
func seccomp(t *testing.T, profile string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seccomp.json")
	if err := os.WriteFile(path, []byte(profile), 0o644); err != nil {
		t.Fatal(err)
	}
	return "--security-opt=seccomp=" + path
}

// mostWatcher is what highwater says it takes at most of a limit that it shares with its
// program (docs/containers.md): 20 MiB, and a sixteenth of the limit, 8 MiB at least.
func mostWatcher(limit sample.Bytes) sample.Bytes { return 20*sample.MiB + max(8*sample.MiB, limit/16) }

func TestAKillByTheContainersLimitIsCalledThat(t *testing.T) {
	setup(t)
	t.Parallel()
	const limit = 60 * sample.MiB
	for name, options := range map[string][]string{
		"as root":                    nil,
		"as a user without rights":   {"--user=1000:1000", "--cap-drop=all", "--security-opt=no-new-privileges"},
		"private cgroup namespace":   {"--cgroupns=private"},
		"cgroups that it may change": {"--privileged"},
		"read-only root":             {"--read-only", "--read-only-tmpfs=false"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, mount := volume(t)
			options = append(append(options, mount...), "--memory=60m")
			r := run(t, options, "/bin/highwater", "run", "-o", "/out/r", "--", "/bin/leak", "-rate", "16MiB")
			if r.code != 137 || !r.says("its container hit the 60 MiB memory limit") || !strings.Contains(r.out, "leak/main.go:") {
				t.Errorf("code %d:\n%s", r.code, r.out)
			}
			if err := recording.Verify(filepath.Join(dir, "r.hwm")); err != nil {
				t.Error(err)
			}
			a := explained(t, filepath.Join(dir, "r.hwm"))
			by := explain.ByCgroup
			if name == "cgroups that it may change" {
				by = explain.ByParent // it made one for the program, without a limit
			}
			killedBy(t, a, by, "container", limit)
			blames(t, a, "leak/main.go")
			if own := row(a, sample.RowWatcher); own == 0 || own > mostWatcher(limit) {
				t.Errorf("highwater itself takes %d KiB, want at most %d", own>>10, mostWatcher(limit)>>10)
			}
		})
	}
}

func TestAKillByTheContainersLimitIsSeenWithoutPtrace(t *testing.T) {
	setup(t)
	t.Parallel()
	dir, mount := volume(t)
	r := run(t, append(mount, withoutPtrace(t), "--memory=60m"), "/bin/highwater", "run", "-o", "/out/r", "--", "/bin/leak", "-rate", "8MiB")
	if r.code != 137 || !r.says("cannot be traced here") || !r.says("its container hit the 60 MiB memory limit") {
		t.Errorf("code %d:\n%s", r.code, r.out)
	}
	if a := explained(t, filepath.Join(dir, "r.hwm")); !a.Outcome.Kernel || a.Outcome.By != explain.ByCgroup || deref(a.Outcome.LimitBytes) != 60*sample.MiB {
		t.Errorf("outcome %+v", a.Outcome)
	}
}

func TestOtherEndsInAContainerAreNotCalledOOMKills(t *testing.T) {
	setup(t)
	t.Parallel()
	for name, c := range map[string]struct {
		command []string
		code    int
		says    string
	}{
		"it ends by itself": {[]string{"/bin/steady", "-live", "8MiB", "-for", "1s"}, 0, "exited normally"},
		"it crashes":        {[]string{"/bin/crash"}, 2, "exited with code 2"},
		"it is not there":   {[]string{"/bin/no-such-program"}, 2, "there is no program"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, []string{"--memory=96m"}, append([]string{"/bin/highwater", "run", "--"}, c.command...)...)
			if r.code != c.code || !r.says(c.says) || r.says("OOM-killed") {
				t.Errorf("code %d, want %d and %q:\n%s", r.code, c.code, c.says, r.out)
			}
		})
	}
}

func TestAServiceStartsWhateverItsContainerLacks(t *testing.T) {
	setup(t)
	t.Parallel()
	readOnly := []string{"--read-only", "--read-only-tmpfs=false"}
	full := []string{"--tmpfs=/tmp:size=100k", "--tmpfs=/dev/shm:size=100k"}
	nobody := []string{"--user=65534:65534", "--cap-drop=all", "--security-opt=no-new-privileges", "--env=HOME="}
	join := func(all ...[]string) (out []string) {
		for _, one := range all {
			out = append(out, one...)
		}
		return out
	}
	for name, c := range map[string]struct {
		options, flags []string
		says           string
	}{
		"a place for recordings":        {readOnly, nil, "the recording is in memory, at /dev/shm/"},
		"rights":                        {nobody, nil, "the recording goes to /tmp/"},
		"room on any disk":              {join(readOnly, full), nil, "steady runs unwatched"},
		"room on the disk of -o":        {append(full, "--tmpfs=/out:size=100k"), []string{"-o", "/out/r"}, "steady runs unwatched"},
		"the directory of -o":           {nil, []string{"-o", "/none/r"}, "the recording goes to /tmp/"},
		"a cgroup for --limit":          {nil, []string{"--limit", "32MiB"}, "the limit of 32 MiB cannot be set here"},
		"ptrace":                        {[]string{withoutPtrace(t)}, nil, "cannot be traced here"},
		"memory to spare":               {[]string{"--memory=32m"}, nil, "of 32 MiB"},
		"memory that a process may map": {[]string{"--ulimit=data=100663296"}, nil, "steady runs unwatched: it may map 96.0 MiB of data"},
		"just enough that it may map":   {[]string{"--ulimit=data=268435456"}, nil, "exited normally"},
		"descriptors":                   {[]string{"--ulimit=nofile=24:24"}, nil, "exited normally"},
		"processes and threads":         {[]string{"--pids-limit=20"}, nil, "exited normally"},
		"a cgroup mount":                {[]string{"--tmpfs=/sys/fs/cgroup"}, nil, "no memory cgroup could be created"},
		"rights, room, ptrace, cgroups": {join(readOnly, full, nobody, []string{withoutPtrace(t)}), []string{"--limit", "32MiB", "-o", "/none/r"}, "runs unwatched"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := served(t, c.options, c.flags); !r.says(c.says) {
				t.Errorf("it does not say %q:\n%s", c.says, r.out)
			}
		})
	}
}

// served runs a service in a container under highwater run, and checks that it started, worked and ended well.
func served(t *testing.T, options, flags []string) ran {
	t.Helper()
	command := append(append([]string{"/bin/highwater", "run"}, flags...), "--", "/bin/steady", "-live", "8MiB", "-for", "500ms")
	r := run(t, append([]string{"--memory=96m"}, options...), command...)
	if r.code != 0 || !strings.Contains(r.out, "ready, live 8.0 MiB") || !strings.Contains(r.out, "ended with") {
		t.Errorf("code %d, it did not serve:\n%s", r.code, r.out)
	}
	return r
}

func TestAContainerThatIsStartedAgainKeepsItsEarlierRecording(t *testing.T) {
	setup(t)
	t.Parallel()
	dir, mount := volume(t)
	for range 2 {
		if r := run(t, append(mount, "--memory=96m"), "/bin/highwater", "run", "-q", "-o", "/out/r.hwm", "--", "/bin/steady", "-live", "1MiB", "-for",
			"100ms"); r.code != 0 {
			t.Errorf("code %d:\n%s", r.code, r.out)
		}
	}
	for _, name := range []string{"r.hwm", "r-2.hwm"} {
		if err := recording.Verify(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestTheFirstProcessPassesSignalsOnAndReapsOrphans(t *testing.T) {
	setup(t)
	t.Parallel()
	for name, options := range map[string][]string{
		"orphans that are traced": nil,
		"orphans that are not":    {withoutPtrace(t)}, // of others the tracer takes the exit code
	} {
		t.Run(name, func(t *testing.T) {
			if r := run(t, append(options, "--memory=96m"), "/bin/highwater", "run", "-q", "--", "/bin/first", "orphans"); r.code != 0 ||
				!strings.Contains(r.out, "zombies: 0") {
				t.Errorf("code %d:\n%s", r.code, r.out)
			}
		})
	}
	t.Run("what a program leaves ends with the container", func(t *testing.T) {
		if r := run(t, []string{"--memory=96m", "--timeout=60"}, "/bin/highwater", "run", "-q", "--", "/bin/first", "leaves"); r.code != 5 {
			t.Errorf("code %d:\n%s", r.code, r.out)
		}
	})
	t.Run("signals", func(t *testing.T) {
		cmd := engine.Run([]string{"--name=told", "--memory=96m"}, "/bin/highwater", "run", "-q", "--", "/bin/first", "signals")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		seen := make([]byte, len("waiting\n"))
		if _, err := out.Read(seen); err != nil || string(seen) != "waiting\n" {
			t.Errorf("%q, %v", seen, err)
		}
		if said, err := engine.Command("stop", "-t", "30", "told").CombinedOutput(); err != nil {
			t.Errorf("stop: %v: %s", err, said)
		}
		if code := exitCode(cmd.Wait()); code != 23 {
			t.Errorf("code %d, want the program's", code)
		}
	})
}
