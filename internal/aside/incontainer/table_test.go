package incontainer_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// one is a run of the table: a program that dies in a container, and where Highwater is.
type one struct {
	where, user, root string // entrypoint, sidecar or host; root or 1000; writable or read-only
	death             string // one of deaths
	essential         bool   // make test runs it; the others are left to make containers
}

// The runs under cgroup version 1, by podman and runc.
var underVersion1 = []one{
	{"entrypoint", "root", "writable", "container", true},
	{"entrypoint", "root", "read-only", "container", false},
	{"entrypoint", "1000", "writable", "container", false},
	{"entrypoint", "1000", "read-only", "container", true},
	{"entrypoint", "root", "writable", "pod", false},
	{"entrypoint", "1000", "read-only", "pod", true},
	{"entrypoint", "root", "writable", "panic", false},
	{"entrypoint", "1000", "read-only", "panic", true},
	{"entrypoint", "root", "writable", "SIGKILL", true},
	{"entrypoint", "1000", "read-only", "SIGTERM", false},
	{"entrypoint", "root", "read-only", "its end", false},
	{"entrypoint", "1000", "writable", "its end", false},

	{"sidecar", "root", "writable", "container", false},
	{"sidecar", "1000", "writable", "container", false},
	{"sidecar", "1000", "read-only", "container", true},
	{"sidecar", "1000", "read-only", "pod", true},
	{"sidecar", "root", "read-only", "panic", false},
	{"sidecar", "1000", "writable", "SIGKILL", true},
	{"sidecar", "root", "writable", "SIGTERM", false},
	{"sidecar", "1000", "read-only", "its end", false},

	{"host", "root", "writable", "container", true},
	{"host", "1000", "read-only", "container", false},
	{"host", "1000", "read-only", "pod", true},
	{"host", "root", "writable", "pod", false},
	{"host", "1000", "writable", "panic", false},
	{"host", "root", "read-only", "SIGKILL", true},
	{"host", "1000", "read-only", "SIGTERM", false},
	{"host", "root", "writable", "its end", true},
}

// Those under version 2, in the guest machine, which is slow: they are left to make containers.
// TestContainersUnderCgroupVersion2 has the essential ones.
var underVersion2 = []one{
	{"entrypoint", "root", "writable", "container", false},
	{"entrypoint", "1000", "read-only", "container", false},
	{"entrypoint", "root", "writable", "pod", false},
	{"entrypoint", "1000", "writable", "panic", false},
	{"entrypoint", "root", "read-only", "SIGKILL", false},
	{"entrypoint", "1000", "read-only", "its end", false},

	{"sidecar", "1000", "read-only", "container", false},
	{"sidecar", "root", "writable", "pod", false},
	{"sidecar", "1000", "writable", "SIGTERM", false},

	{"host", "root", "writable", "container", false},
	{"host", "1000", "read-only", "pod", false},
	{"host", "1000", "writable", "panic", false},
	{"host", "root", "read-only", "its end", false},
}

func (o one) String() string {
	return fmt.Sprintf("%s, %s, %s root, %s", o.where, map[string]string{"root": "root", "1000": "user 1000"}[o.user], o.root, o.death)
}

const tableLimit = 64 * sample.MiB

// deaths are the six ways: what the program is, and what is true of its end. A limit of the
// container's is 64 MiB in all but "pod", where the pod has it.
var deaths = map[string]struct {
	program []string
	name    string // in the table
	state   explain.State
	by      explain.By
	of      string // whose limit struck
	code    int
	source  string // whose line is to be named, "": none is
	line    string // text of it
}{
	"container": {[]string{"/bin/leak", "-rate", "10MiB"}, "OOM kill by the container's limit", explain.Killed, explain.ByCgroup, "container", 137, "leak/main.go",
		"// truth: leak"},
	"pod": {[]string{"/bin/leak", "-rate", "10MiB"}, "OOM kill by the pod's limit", explain.Killed, explain.ByParent, "pod", 137, "leak/main.go",
		"// truth: leak"},
	"panic": {[]string{"/bin/crash", "-live", "8MiB", "-how", "panic"}, "panic", explain.Exited, explain.ByNone, "", 2, "crash/main.go",
		`"panic": {2, func() { panic(`},
	"SIGKILL": {[]string{"/bin/crash", "-live", "8MiB", "-how", "kill"}, "SIGKILL, by nobody's limit", explain.Killed, explain.BySignal, "", 137, "", ""},
	"SIGTERM": {[]string{"/bin/crash", "-live", "8MiB", "-how", "term"}, "SIGTERM", explain.Killed, explain.BySignal, "", 143, "", ""},
	"its end": {[]string{"/bin/steady", "-live", "8MiB"}, "its own end", explain.Exited, explain.ByNone, "", 0, "", ""},
}

// program is the command of a run, which lasts for so many seconds where nothing kills it earlier.
func (o one) program(seconds int) []string {
	p := deaths[o.death].program
	switch p[0] {
	case "/bin/crash":
		return append(p[:len(p):len(p)], "-after", fmt.Sprint(seconds, "s"))
	case "/bin/steady":
		return append(p[:len(p):len(p)], "-for", fmt.Sprint(seconds, "s"))
	}
	return p
}

// base is the program's file name.
func (o one) base() string { return strings.TrimPrefix(deaths[o.death].program[0], "/bin/") }

// lineOf is the number of the line of a source that has the text.
func lineOf(t testing.TB, source, text string) int {
	t.Helper()
	b, err := os.ReadFile("../testprog/" + source)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		if n++; strings.Contains(line, text) {
			return n
		}
	}
	t.Fatalf("%s has no line with %q", source, text)
	return 0
}

// found is what an answer says of a run, as the table shows it.
type found struct{ outcome, limit, line string }

func foundIn(a *explain.Answer) found {
	o := a.Outcome
	f := found{outcome: fmt.Sprintf("%s, by %s", o.State, o.By), limit: "not known", line: "none"}
	if o.ExitCode != nil {
		f.outcome += fmt.Sprintf(", code %d", *o.ExitCode)
	}
	if o.LimitBytes != nil {
		f.limit = fmt.Sprintf("%d MiB", *o.LimitBytes/sample.MiB)
		switch {
		case o.LimitOf != "":
			f.limit += " of the " + o.LimitOf
		case o.By == explain.ByParent:
			f.limit += " of a parent"
		}
	}
	named := func(file string, line int) string {
		parts := strings.Split(file, "/")
		return fmt.Sprintf("%s:%d", strings.Join(parts[max(0, len(parts)-2):], "/"), line)
	}
	switch {
	case a.Crash != nil:
		f.line = named(a.Crash.File, a.Crash.Line)
	case a.Verdict.Culprit != nil:
		f.line = named(a.Verdict.Culprit.File, a.Verdict.Culprit.Line)
	case o.Kernel && len(a.Holders) > 0: // first under ALLOCATED BY
		f.line = named(a.Holders[0].File, a.Holders[0].Line)
	}
	return f
}

// judge compares an answer with what is true of the run, as far as it can be seen: under version 1 a
// container has a mount of its own cgroup alone, where a limit above it has a size and no owner.
func (o one) judge(t testing.TB, version string, a *explain.Answer) (f found, right bool) {
	t.Helper()
	d := deaths[o.death]
	f = foundIn(a)
	want := found{fmt.Sprintf("%s, by %s, code %d", d.state, d.by, d.code), fmt.Sprintf("%d MiB", tableLimit/sample.MiB), "none"}
	switch {
	case d.of == "pod" && version == "1" && o.where != "host":
		want.limit += " of a parent"
	case d.of != "":
		want.limit += " of the " + d.of
	}
	if d.source != "" {
		want.line = fmt.Sprintf("%s:%d", d.source, lineOf(t, d.source, d.line))
	}
	if d.of == "" { // whose limit it would have been is said of kills by one alone
		f.limit, _, _ = strings.Cut(f.limit, " of ")
	}
	if a.Outcome.Kernel != (d.of != "") {
		t.Errorf("killed by the kernel: %v", a.Outcome.Kernel)
	}
	if f != want {
		t.Errorf("%+v\nwant %+v", f, want)
	}
	return f, f == want
}
