package incontainer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// table gathers the rows of docs/research/containers.md.
type table struct {
	mu   sync.Mutex
	rows map[string][]string // by version, in the order of the list
}

func (tb *table) set(version string, i int, all int, row string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if tb.rows[version] == nil {
		tb.rows[version] = make([]string, all)
	}
	tb.rows[version][i] = row
}

// TestEveryEndInEveryContainer has a program die in each of six ways, in containers of several
// kinds, with Highwater as the entrypoint, beside it and on the host: outcome, limit and line are to be right in all.
//
// HIGHWATER_CONTAINERS is where the table is to be written; make containers sets it.
func TestEveryEndInEveryContainer(t *testing.T) {
	setup(t)
	tb := &table{rows: map[string][]string{}}
	t.Run("cgroup version 1", func(t *testing.T) {
		for i, o := range underVersion1 {
			if !o.essential && !hwtest.InMatrix() {
				continue
			}
			t.Run(o.String(), func(t *testing.T) {
				t.Parallel()
				dir := o.run(t)
				tb.set("1", i, len(underVersion1), o.row(t, "1", filepath.Join(dir, "r.hwm")))
			})
		}
	})
	t.Run("cgroup version 2", func(t *testing.T) { tb.runGuest(t) })
	if to := os.Getenv("HIGHWATER_CONTAINERS"); to != "" {
		tb.write(t, to)
	}
}

// row explains the recording of a run, judges it and gives the table's row.
func (o one) row(t *testing.T, version, path string) string {
	t.Helper()
	f, right := found{"no recording", "", ""}, false
	if _, err := os.Stat(path); err == nil {
		f, right = o.judge(t, version, explained(t, path))
	} else {
		t.Error(err)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %s |", o.where, version, o.user, o.root, deaths[o.death].name, f.outcome, f.limit, f.line,
		map[bool]string{true: "yes", false: "**no**"}[right])
}

// seconds is how long a program lives that nothing kills earlier: a watcher has to come.
func (o one) seconds() int {
	if o.where == "entrypoint" {
		return 1
	}
	return 12
}

// run runs a row under version 1 and gives the directory with its recording, r.hwm.
func (o one) run(t *testing.T) string {
	t.Helper()
	dir, mount := volume(t)
	options := append(mount, "--memory=64m")
	name := fmt.Sprintf("table%d", time.Now().UnixNano())
	if o.death == "pod" {
		parent := pod(t, "8a1b2c3d-"+strings.TrimPrefix(name, "table"), tableLimit)
		options = append(mount, "--memory=200m", "--cgroup-parent="+parent)
	}
	rights := []string{}
	if o.user != "root" {
		rights = append(rights, "--user=1000:1000", "--cap-drop=all", "--security-opt=no-new-privileges")
	}
	if o.root == "read-only" {
		rights = append(rights, "--read-only", "--read-only-tmpfs=false")
	}
	if o.where == "entrypoint" {
		r := run(t, slices.Concat(options, rights), append([]string{"/bin/highwater", "run", "-o", "/out/r", "--"}, o.program(o.seconds())...)...)
		if r.code != deaths[o.death].code {
			t.Errorf("the container ended with %d, want %d:\n%s", r.code, deaths[o.death].code, r.out)
		}
		return dir
	}
	// The program is not the first process of its namespace, as in a pod: what that does
	// to itself by signals, the kernel does not do.
	pause := engine.Start(t, nil, "/bin/first", "stays")
	options = slices.Concat(options, rights, []string{"--name=" + name, "--pid=container:" + pause})
	program := o.program(o.seconds())
	if program[0] == "/bin/leak" {
		program = []string{program[0], "-rate", "3MiB"} // a watcher on a busy machine has to come in time
	}
	engine.Start(t, options, program...)
	if o.where == "host" {
		if r := watch(t, filepath.Join(dir, "r.hwm"), "--container", name, "--enable-heap-profile"); r.code != 0 && r.code != 4 {
			t.Errorf("code %d:\n%s", r.code, r.out)
		}
		return dir
	}
	if o.user == "root" {
		rights = append(rights, "--cap-add=SYS_PTRACE")
	}
	beside := slices.Concat(mount, rights, []string{"--memory=200m", "--pid=container:" + pause})
	sidecar := engine.Start(t, beside, "/bin/highwater", "watch", o.base(), "--enable-heap-profile", "-o", "/out/r")
	// It waits for another program of that name: it is told to end, as a pod's containers are.
	for _, args := range [][]string{{"wait", name}, {"stop", "-t", "60", sidecar}} {
		if out, err := engine.Command(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	if t.Failed() {
		out, _ := engine.Command("logs", sidecar).CombinedOutput()
		t.Logf("%s", out)
	}
	return dir
}

// runGuest runs the rows under version 2, in one machine.
func (tb *table) runGuest(t *testing.T) {
	hwtest.LeftToMatrix(t, "has "+fmt.Sprint(len(underVersion2))+" programs die in an emulated machine")
	g := hwtest.Guest{Memory: sample.GiB, Timeout: 25 * time.Minute, Files: map[string]string{
		"/bin/box": hwtest.Build(t, "testdata/box", hwtest.BuildOptions{}), "/bin/highwater": highwater(t),
		"/bin/leak": testprog(t, "leak"), "/bin/crash": testprog(t, "crash"), "/bin/steady": testprog(t, "steady"),
	}}
	for i, o := range underVersion2 {
		kept := fmt.Sprintf("/tmp/out/%d.hwm", i)
		g.Cmds, g.Fetch = append(g.Cmds, o.box(kept)), append(g.Fetch, kept)
	}
	r := g.Run(t)
	for i, o := range underVersion2 {
		t.Run(o.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.hwm")
			if b := r.Files[g.Fetch[i]]; len(b) > 0 {
				if err := os.WriteFile(path, b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			tb.set("2", i, len(underVersion2), o.row(t, "2", path))
			if code := r.Cmds[i].Code; o.where == "entrypoint" && code != deaths[o.death].code {
				t.Errorf("the container ended with %d", code)
			}
			if t.Failed() {
				t.Logf("code %d:\n%s", r.Cmds[i].Code, r.Cmds[i].Output)
			}
		})
	}
}

// box is the command of a row in the guest; kept is where its recording is to be, on the guest.
func (o one) box(kept string) []string {
	b := []string{"box", "-limit", "64"}
	if o.death == "pod" {
		b = []string{"box", "-pod", "64"}
	}
	inside := kept
	if o.user != "root" {
		b = append(b, "-user", o.user)
	}
	if o.root == "read-only" {
		b, inside = append(b, "-read-only"), strings.TrimPrefix(kept, "/tmp")
	}
	program := o.program(40)
	if program[0] == "/bin/leak" && o.where != "entrypoint" {
		program = []string{program[0], "-rate", "2MiB"} // a watcher in an emulated machine has to come in time
	}
	switch o.where {
	case "entrypoint":
		return append(append(b, "/bin/highwater", "run", "-o", inside, "--"), o.program(3)...)
	case "sidecar":
		return append(append(append(b, "-watch", "sidecar"), program...), "--", "/bin/highwater", "watch", o.base(), "--enable-heap-profile", "-o", inside)
	}
	return append(append(append(b, "-watch", "host"), program...), "--", "/bin/highwater", "watch", "--container", "3f4e5d6c7b8a", "--enable-heap-profile",
		"-o", kept)
}

// write writes the page, with what ran.
func (tb *table) write(t *testing.T, path string) {
	t.Helper()
	var rows []string
	for _, version := range []string{"1", "2"} {
		rows = append(rows, slices.DeleteFunc(tb.rows[version], func(s string) bool { return s == "" })...)
	}
	right := len(slices.DeleteFunc(slices.Clone(rows), func(s string) bool { return !strings.HasSuffix(s, "| yes |") }))
	text := fmt.Sprintf(pageOfContainers, right, len(rows), strings.Join(rows, "\n"))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const pageOfContainers = `# Ends in containers

` + "`make containers`" +
	` has a program end in each of six ways, in containers of several kinds, with Highwater as the entrypoint, as a sidecar and on the host, and writes this page. A row is right where the answer has the
true outcome, the true limit and whose it was, and the true line of the program (none where memory did not end it, and the line of a panic).
Under version 1 a container sees its own cgroup alone: of a pod's limit it knows the size, and that it is a parent's.

**%d of %d are right.**

Version 1 is podman with runc. Version 2 is an emulated machine with a kernel of its own, and containers as the kubelet lays them out. User 1000 has no capabilities and cannot get any; a sidecar of root has SYS_PTRACE. A sidecar shares a PID namespace
with the program and a third process that does nothing, as in a pod.

| Highwater | cgroup | user | root | death | outcome | limit | line | right |
|---|---|---|---|---|---|---|---|---|
%s
`
