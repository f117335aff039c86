package incontainer_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// watch runs highwater watch on this machine; its recording goes to path.
func watch(t testing.TB, path string, args ...string) ran {
	t.Helper()
	cmd := exec.Command(highwater(t), append(append([]string{"watch"}, args...), "-o", path)...)
	out, err := cmd.CombinedOutput()
	return ran{exitCode(err), string(out)}
}

// pod makes the cgroup of a pod as the kubelet does, with a limit, until the test ends.
func pod(t testing.TB, uid string, limit sample.Bytes) (parent string) {
	t.Helper()
	h, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	g, err := h.Create(cgroup.Options{Name: "kubepods", Parent: "/"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(g.Dir, "pod"+uid)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		os.Remove(filepath.Join(dir, "conmon"))
		os.Remove(dir)
		_ = g.Remove(t.Context())
	})
	inner, err := h.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	if err := inner.SetLimit(limit); err != nil {
		t.Fatal(err)
	}
	return inner.Path
}

// inPod are the options of a container in a pod, as CRI-O annotates it.
func inPod(parent, name, podName string) []string { return inPodOf(parent, name, podName, "shop") }

func inPodOf(parent, name, podName, namespace string) []string {
	return []string{"--cgroup-parent=" + parent, "--name=k8s_" + name + "_" + podName, "--annotation=io.kubernetes.container.name=" + name,
		"--annotation=io.kubernetes.pod.name=" + podName, "--annotation=io.kubernetes.pod.namespace=" + namespace}
}

func TestAContainerIsWatchedFromTheHost(t *testing.T) {
	setup(t)
	t.Parallel()
	t.Run("by its name", func(t *testing.T) {
		engine.Start(t, []string{"--name=checkout", "--memory=60m"}, "/bin/leak", "-rate", "16MiB")
		path := filepath.Join(t.TempDir(), "r.hwm")
		if r := watch(t, path, "--container", "checkout"); r.code != 0 || !r.says("leak in container checkout was OOM-killed") ||
			!r.says("its container hit the 60 MiB memory limit") {
			t.Errorf("code %d:\n%s", r.code, r.out)
		}
		a := explained(t, path)
		killedBy(t, a, explain.ByCgroup, "container", 60*sample.MiB)
		if a.Program.Place != "container checkout" || row(a, sample.RowWatcher) != 0 {
			t.Errorf("place %q, rows %+v", a.Program.Place, a.Ledger.Rows)
		}
	})
	t.Run("by its id", func(t *testing.T) {
		id := engine.Start(t, []string{"--memory=60m"}, "/bin/steady", "-live", "4MiB", "-for", "1m")
		if r := watch(t, filepath.Join(t.TempDir(), "r.hwm"), "--container", id[:12], "--for", "3s"); r.code != 0 && r.code != 4 || !r.says("of 60 MiB") {
			t.Errorf("code %d:\n%s", r.code, r.out)
		}
	})
}

func TestGoroutinesThatFillAContainerAreNamed(t *testing.T) {
	setup(t)
	t.Parallel()
	engine.Start(t, []string{"--name=parked", "--memory=120m"}, "/bin/goroutines", "-held", "0", "-max", "100000", "-for", "1m")
	path := filepath.Join(t.TempDir(), "r.hwm")
	r := watch(t, path, "--container", "parked")
	a := explained(t, path)
	killedBy(t, a, explain.ByCgroup, "container", 120*sample.MiB)
	if a.Verdict.Class != explain.Goroutines || !strings.Contains(a.Verdict.Sentence, "goroutines/main.go:") {
		t.Errorf("verdict %s: %s\n%s", a.Verdict.Class, a.Verdict.Sentence, r.out)
	}
	join(t, "goroutines", path, explain.Goroutines, "goroutines/main.go", "// truth: go", "// truth: wait")
}

func TestThePodsLimitIsTheOneThatCounts(t *testing.T) {
	setup(t)
	t.Parallel()
	const limit = 96 * sample.MiB
	parent := pod(t, "8a1b2c3d-0001", limit)
	engine.Start(t, inPod(parent, "cache", "web-0"), "/bin/steady", "-live", "20MiB", "-for", "1m")
	engine.Start(t, inPod(parent, "app", "web-0"), "/bin/leak", "-rate", rateOf("3MiB"), "-max", "300MiB")
	path := filepath.Join(t.TempDir(), "r.hwm")
	r := watch(t, path, "--container", "shop/web-0/app", "--enable-heap-profile")
	if !r.says("leak in container app of pod shop/web-0 was OOM-killed") || !r.says("its pod hit the 96 MiB memory limit") {
		t.Errorf("code %d:\n%s", r.code, r.out)
	}
	a := explained(t, path)
	killedBy(t, a, explain.ByParent, "pod", limit)
	if others := row(a, sample.RowOther); others < 20*sample.MiB {
		t.Errorf("the other container's row is %d KiB", others>>10)
	}
	if a.Program.Name != "leak" {
		t.Errorf("the answer is about %s", a.Program.Name)
	}
	join(t, "two-in-a-pod", path, explain.Leak, "leak/main.go", "// truth: leak")
}

// What an init container used is free again, though its container was of the same pod.
func TestAnInitContainerThatHasEndedIsNotCounted(t *testing.T) {
	setup(t)
	t.Parallel()
	const limit = 96 * sample.MiB
	parent := pod(t, "8a1b2c3d-0006", limit)
	if r := run(t, inPod(parent, "migrate", "web-9"), "/bin/steady", "-live", "60MiB", "-for", "500ms"); r.code != 0 {
		t.Fatalf("the init container: code %d:\n%s", r.code, r.out)
	}
	engine.Start(t, inPod(parent, "app", "web-9"), "/bin/leak", "-rate", rateOf("4MiB"))
	path := filepath.Join(t.TempDir(), "r.hwm")
	if r := watch(t, path, "--container", "shop/web-9/app", "--enable-heap-profile"); !r.says("leak in container app of pod shop/web-9 was OOM-killed") ||
		!r.says("its pod hit the 96 MiB memory limit") {
		t.Errorf("code %d:\n%s", r.code, r.out)
	}
	a := explained(t, path)
	killedBy(t, a, explain.ByParent, "pod", limit)
	if others := row(a, sample.RowOther); others > 8*sample.MiB {
		t.Errorf("other programs have %d KiB, and there is none", others>>10)
	}
	join(t, "after-init", path, explain.Leak, "leak/main.go", "// truth: leak")
}

func TestAPodIsWatchedByItsName(t *testing.T) {
	setup(t)
	t.Parallel()
	parent := pod(t, "8a1b2c3d-0002", 96*sample.MiB)
	engine.Start(t, inPod(parent, "cache", "web-1"), "/bin/steady", "-live", "4MiB", "-for", "1m")
	path := filepath.Join(t.TempDir(), "r.hwm")
	if r := watch(t, path, "--pod", "shop/web-1", "--for", "1s"); r.code != 0 && r.code != 4 || !r.says("of 96 MiB") {
		t.Errorf("code %d:\n%s", r.code, r.out)
	}
}

func TestWhatCannotBeMeantIsSaid(t *testing.T) {
	setup(t)
	t.Parallel()
	one, two := pod(t, "8a1b2c3d-0003", 96*sample.MiB), pod(t, "8a1b2c3d-0004", 96*sample.MiB)
	engine.Start(t, inPod(one, "twin", "a-0"), "/bin/ticker", "-for", "3m")
	engine.Start(t, inPod(two, "twin", "b-0"), "/bin/ticker", "-for", "3m")
	gone := engine.Start(t, []string{"--name=gone"}, "/bin/ticker")
	if out, err := engine.Command("kill", gone).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_ = engine.Command("wait", gone).Run()
	for what, says := range map[string]string{
		"twin":    "2 of them are called twin: twin of pod shop/",
		"gone":    "no container gone runs here",
		gone[:12]: "no container " + gone[:12] + " runs here",
		"a b":     "is neither a container's name nor an id",
	} {
		if r := watch(t, filepath.Join(t.TempDir(), "r.hwm"), "--container", what, "--for", "100ms"); r.code != 2 || !strings.Contains(r.out, says) {
			t.Errorf("%q: code %d, want %q:\n%s", what, r.code, says, r.out)
		}
	}
	if r := watch(t, filepath.Join(t.TempDir(), "r.hwm"), "--container", "a-0/twin", "--for", "500ms"); r.code != 0 && r.code != 4 {
		t.Errorf("with its pod: code %d:\n%s", r.code, r.out)
	}
}

// Whose containers these are is read from files and no socket is asked: who may not read the program is told that, and
// gets the kernel's figures.
func TestOfAContainerOfRootAnotherUserGetsTheKernelsFigures(t *testing.T) {
	setup(t)
	t.Parallel()
	engine.Start(t, []string{"--name=roots", "--memory=60m"}, "/bin/steady", "-live", "4MiB", "-for", "1m")
	dir, _ := volume(t)
	program, err := os.ReadFile(highwater(t))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "highwater"), program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "highwater"), "watch", "--container", "roots", "--for", "500ms", "-o", filepath.Join(dir, "r"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=/bin:/usr/bin"}
	out, err := cmd.CombinedOutput()
	if code := exitCode(err); code != 0 && code != 4 || !strings.Contains(unwrapped(string(out)), "the kernel's figures alone; ") ||
		!strings.Contains(unwrapped(string(out)), "permission denied") {
		t.Errorf("code %d:\n%s", code, out)
	}
}

func TestASidecarReadsTheLimitOfItsTarget(t *testing.T) {
	setup(t)
	t.Parallel()
	for name, rights := range map[string][]string{
		"as root":                   {"--cap-add=SYS_PTRACE"},
		"as the same user, without": {"--user=1000:1000", "--cap-drop=all", "--security-opt=no-new-privileges"},
		"private cgroup namespace":  {"--cap-add=SYS_PTRACE", "--cgroupns=private"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, mount := volume(t)
			target := engine.Start(t, append([]string{"--memory=60m"}, rights...), "/bin/leak", "-rate", rateOf("3MiB"))
			// The target is the first process of their PID namespace: with it ends the
			// sidecar, whose recording is on the disk by then.
			r := run(t, append(append(rights, mount...), "--memory=200m", "--pid=container:"+target), "/bin/highwater", "watch", "1", "--enable-heap-profile", "-o",
				"/out/r")
			a := explained(t, filepath.Join(dir, "r.hwm"))
			killedBy(t, a, explain.ByCgroup, "container", 60*sample.MiB)
			if row(a, sample.RowLive) == 0 || row(a, sample.RowWatcher) != 0 {
				t.Errorf("rows %+v\n%s", a.Ledger.Rows, r.out)
			}
			join(t, "beside-"+strings.ReplaceAll(name, " ", "-"), filepath.Join(dir, "r.hwm"), explain.Leak, "leak/main.go", "// truth: leak")
		})
	}
}

func TestAKilledExecProbeIsNotTheServicesDeath(t *testing.T) {
	setup(t)
	t.Parallel()
	dir, mount := volume(t)
	// The probe is the largest by far when the limit is met: the kernel kills the largest, and
	// Highwater has up to 50 MiB while it reads a peak.
	id := engine.Start(t, append(mount, "--memory=200m"), "/bin/highwater", "run", "-o", "/out/r", "--", "/bin/first", "signals")
	for said := ""; !strings.Contains(said, "waiting"); { // it is watched by then
		out, err := engine.Command("logs", id).CombinedOutput()
		if said = string(out); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if out, err := engine.Command("exec", id, "/bin/leak", "-rate", "256MiB").CombinedOutput(); exitCode(err) != 137 {
		t.Fatalf("the probe was not killed: %v\n%s", err, out)
	}
	if out, err := engine.Command("stop", "-t", "30", id).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	a := explained(t, filepath.Join(dir, "r.hwm"))
	if a.Outcome.Kernel || a.Outcome.State != explain.Exited || a.Outcome.ExitCode == nil || *a.Outcome.ExitCode != 23 {
		t.Errorf("outcome %+v", a.Outcome)
	}
	said := false
	for _, g := range a.Gaps {
		said = said || strings.Contains(g.What, "killed another program")
	}
	if !said {
		t.Errorf("gaps %+v", a.Gaps)
	}
	join(t, "exec-probe", filepath.Join(dir, "r.hwm"), explain.Healthy, "", "")
}

func TestDoctorSaysWhichLimitCounts(t *testing.T) {
	setup(t)
	t.Parallel()
	if r := run(t, []string{"--memory=77m"}, "/bin/highwater", "doctor"); !strings.Contains(r.out, "77 MiB, the container's own") {
		t.Errorf("in a container:\n%s", r.out)
	}
	id := engine.Start(t, []string{"--memory=78m"}, "/bin/ticker")
	if r := run(t, []string{"--memory=79m", "--pid=container:" + id, "--cap-add=SYS_PTRACE"}, "/bin/highwater", "doctor", "1"); !strings.Contains(r.out,
		"79 MiB, the container's own") ||
		!strings.Contains(r.out, "78 MiB, the container's own") || !strings.Contains(r.out, "seen through the process's own mounts") {
		t.Errorf("beside a container:\n%s", r.out)
	}
	pid, err := engine.Command("inspect", "-f", "{{.State.Pid}}", id).Output()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command(highwater(t), "doctor", string(bytes.TrimSpace(pid))).Output()
	if !strings.Contains(string(out), "78 MiB, the container's own") {
		t.Errorf("from the host:\n%s", out)
	}
}
