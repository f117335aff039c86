package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// The numbers of capabilities, from include/uapi/linux/capability.h.
const (
	capDACOverride       = 1
	capDACReadSearch     = 2
	capKill              = 5
	capIPCLock           = 14
	capSysPtrace         = 19
	capCheckpointRestore = 40
)

// capabilitySets are the lines of a status file that begin so, by their names.
func capabilitySets(status string) map[string]string {
	sets := map[string]string{}
	for line := range strings.Lines(status) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.HasPrefix(name, "Cap") {
			sets[name] = strings.TrimSpace(value)
		}
	}
	return sets
}

// has checks the permitted and the effective set of every thread of a process.
func has(t *testing.T, pid int, want []int) {
	t.Helper()
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	var all, mask uint64
	fmt.Sscanf(capabilitySets(string(own))["CapEff"], "%x", &all)
	for _, n := range want {
		mask |= 1 << n
	}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if len(files) < 3 {
		t.Fatalf("%d threads", len(files))
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		for _, set := range []string{"CapEff", "CapPrm"} {
			if got, want := capabilitySets(string(b))[set], fmt.Sprintf("%016x", mask&all); got != want {
				t.Errorf("%s: %s is %s, want %s", path, set, got, want)
			}
		}
	}
}

func TestAWatcherThatRunsAsRootKeepsTheCapabilitiesAloneThatItNeeds(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace)
	reading := []int{capSysPtrace, capDACReadSearch, capIPCLock, capCheckpointRestore}
	nobodys := t.TempDir()
	if err := os.Chown(nobodys, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		flags []string
		dir   string
		more  []int
	}{
		{"watch", nil, t.TempDir(), nil},
		{"watch that writes into the program", []string{"--enable-heap-profile"}, t.TempDir(), []int{capDACOverride}},
		{"watch that records in another user's directory", nil, nobodys, []int{capDACOverride}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(copied(t, testprog(t, "ticker"), open(t), 0o755), "-for", "10m")
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			program := startStranger(t, cmd)
			path := filepath.Join(c.dir, "w.hwm")
			b := launch(t, path, exec.Command(highwater(t), append([]string{"watch", program.pid(), "--heap", "every=1s", "-o", path}, c.flags...)...))
			b.await(t, `captured the heap of ticker`)
			has(t, b.cmd.Process.Pid, slices.Concat(reading, c.more))
			program.cmd.Process.Kill()
			if code := b.end(t); code != 0 || deathMoment(t, path) == nil {
				t.Errorf("code %d, and its death was not read:\n%s", code, b.seen.String())
			}
		})
	}
	t.Run("run", func(t *testing.T) {
		b := begin(t, "--no-heap-profile", "--", testprog(t, "ticker"), "-for", "10m")
		pid := b.pid(t)
		has(t, b.cmd.Process.Pid, append(reading, capKill))
		b.signal(t, syscall.SIGTERM)
		b.end(t)
		b.leavesNothing(t, pid)
	})
}

// What a user, a container or a service manager gives differs, and so does what the
// kernel makes of it at an execve.
func TestAProgramUnderRunAndItsLoadHaveTheCapabilitiesThatTheyWouldHave(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace, hwtest.Program("setpriv"))
	hw := copied(t, highwater(t), open(t), 0o755)
	for name, args := range map[string][]string{
		"root":                           nil,
		"root with less":                 {"--bounding-set=-sys_admin,-net_raw"},
		"root without new privileges":    {"--no-new-privs"},
		"root with ambient ones":         {"--inh-caps=+net_raw,+kill", "--ambient-caps=+net_raw,+kill"},
		"root whose user means nothing":  {"--securebits=+noroot", "--inh-caps=+net_raw,+sys_ptrace", "--ambient-caps=+net_raw,+sys_ptrace"},
		"another user":                   {"--reuid=65534", "--clear-groups"},
		"another user with ambient ones": {"--reuid=65534", "--clear-groups", "--inh-caps=+net_raw", "--ambient-caps=+net_raw"},
		"another user that may trace":    {"--reuid=65534", "--clear-groups", "--inh-caps=+sys_ptrace,+kill", "--ambient-caps=+sys_ptrace,+kill"},
		"root that may not trace all":    {"--bounding-set=-sys_ptrace"},
	} {
		t.Run(name, func(t *testing.T) {
			as := func(command ...string) string {
				cmd := exec.Command("setpriv", slices.Concat(args, command)...)
				cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+open(t))
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
				}
				return string(out)
			}
			want := capabilitySets(as("cat", "/proc/self/status"))
			if len(want) != 5 {
				t.Fatalf("sets: %v", want)
			}
			got := capabilitySets(as(hw, "run", "-q", "--", "cat", "/proc/self/status"))
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("the program has %v, want %v", got, want)
			}
			load := filepath.Join(open(t), "load")
			as(hw, "run", "-q", "--load", "cat /proc/self/status >"+load, "--", "sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done")
			b, err := os.ReadFile(load)
			if err != nil {
				t.Fatal(err)
			}
			if got := capabilitySets(string(b)); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("its load has %v, want %v", got, want)
			}
		})
	}
}

func TestTwoCapabilitiesAreEnoughToWatchAnotherUsersProgram(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace, hwtest.Program("setpriv"))
	dir := open(t)
	hw := copied(t, highwater(t), dir, 0o755)
	cmd := exec.Command(copied(t, testprog(t, "ticker"), dir, 0o755), "-for", "10m")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	program := startStranger(t, cmd)
	for _, c := range []struct {
		capabilities, watch, doctor string
		code                        int
	}{
		{"+sys_ptrace,+dac_read_search", "ticker was watched for", "allowed (CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH)", 0},
		{"+sys_ptrace", "run highwater as root, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH", "has CAP_SYS_PTRACE, and needs CAP_DAC_READ_SEARCH too", 5},
	} {
		t.Run(c.capabilities, func(t *testing.T) {
			as := func(args ...string) (string, int) {
				cmd := exec.Command("setpriv", append([]string{"--reuid=65533", "--clear-groups", "--inh-caps=" + c.capabilities, "--ambient-caps=" + c.capabilities, hw},
					args...)...)
				cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+open(t))
				out, _ := cmd.CombinedOutput() // its code is compared
				return string(out), cmd.ProcessState.ExitCode()
			}
			said, code := as("watch", program.pid(), "--for", "1s", "-o", filepath.Join(open(t), "w.hwm"))
			if code != c.code || !strings.Contains(said, c.watch) || code == 0 && strings.Contains(said, "could not be divided") {
				t.Errorf("watch: code %d, want %d and %q:\n%s", code, c.code, c.watch, said)
			}
			if said, _ := as("watch", program.pid(), "--enable-heap-profile", "--for", "1s", "-o", filepath.Join(open(t), "e.hwm")); strings.Contains(said,
				"enabled heap profiling in ticker") != (c.code == 0) {
				t.Errorf("watch --enable-heap-profile:\n%s", said)
			}
			if said, _ := as("doctor"); !strings.Contains(said, c.doctor) {
				t.Errorf("doctor: no %q in\n%s", c.doctor, said)
			}
		})
	}
}
