package incontainer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

var engine hwtest.Engine

func TestMain(m *testing.M) {
	code := m.Run()
	if err := engine.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, "containers are left:", err)
	}
	os.Exit(code)
}

func highwater(t testing.TB) string {
	return hwtest.Build(t, "../../../cmd/highwater", hwtest.BuildOptions{})
}

func testprog(t testing.TB, name string) string {
	return hwtest.Build(t, "../testprog/"+name, hwtest.BuildOptions{})
}

// setup makes the one image of all tests here.
func setup(t testing.TB) {
	t.Helper()
	hwtest.Need(t, hwtest.Containers)
	files := map[string]string{"/bin/highwater": highwater(t), "/bin/first": hwtest.Build(t, "testdata/first", hwtest.BuildOptions{})}
	for _, name := range []string{"crash", "goroutines", "leak", "steady", "ticker"} {
		files["/bin/"+name] = testprog(t, name)
	}
	files["/bin/server"] = testprog(t, "leak") // as docs/containers.md has it
	engine.Setup(t, files)
}

// volume is a directory that every user may write to, and the option that mounts it at
// /out.
func volume(t testing.TB) (dir string, option []string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, []string{"-v", dir + ":/out"}
}

// ran is a container that has ended.
type ran struct {
	code int
	out  string // of both
}

// says reports whether a sentence is in the output, on however many lines.
func (r ran) says(sentence string) bool { return strings.Contains(unwrapped(r.out), sentence) }

// unwrapped is a text on one line, with one space between two words.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

func run(t testing.TB, options []string, command ...string) ran {
	t.Helper()
	code, out := engine.RunToEnd(t, options, command...)
	return ran{code, out}
}

// explained is what a recording says.
func explained(t testing.TB, path string) *explain.Answer {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(highwater(t), "explain", "--json", path)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if code := exitCode(err); code != 0 && code != 4 {
		t.Fatalf("explain: %v\n%s%s", err, out, said.Bytes())
	}
	var a explain.Answer
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatalf("explain ended with %d, %v\n%s%s", cmd.ProcessState.ExitCode(), err, out, said.Bytes())
	}
	return &a
}

func exitCode(err error) int {
	if e, ok := err.(*exec.ExitError); ok {
		return e.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// row is a row of a ledger.
func row(a *explain.Answer, name string) sample.Bytes {
	for _, r := range a.Ledger.Rows {
		if r.Name == name {
			return r.Bytes
		}
	}
	return 0
}

// killedBy checks that a limit killed the program, whose it was, and how large, and that
// the ledger's rows add up to it, or that the answer says that the kernel was faster, as on a very busy machine.
func killedBy(t testing.TB, a *explain.Answer, by explain.By, of string, limit sample.Bytes) {
	t.Helper()
	o := a.Outcome
	if o.State != explain.Killed || !o.Kernel || o.By != by || o.LimitOf != of || o.LimitBytes == nil || *o.LimitBytes != limit {
		t.Errorf("outcome %+v of %v, want killed by %s of the %s, %d MiB", o, deref(o.LimitBytes), by, of, limit/sample.MiB)
	}
	if slices.ContainsFunc(a.Gaps, func(g explain.Gap) bool { return g.What == sample.GapKill }) && o.Moment != "kill" {
		t.Logf("the kernel freed the memory before it was read; the answer is of another moment and says so: %+v", a.Gaps)
		return
	}
	if left := a.Ledger.UnexplainedBytes; left > int64(limit/20) || left < -int64(limit/20) {
		t.Errorf("%d KiB of %d are unexplained: %+v", left>>10, a.Ledger.TotalBytes>>10, a.Ledger.Rows)
	}
	if total := a.Ledger.TotalBytes; total < limit-limit/20 || total > limit+limit/20 {
		t.Errorf("the ledger is of %d KiB, not the limit's %d: %+v", total>>10, limit>>10, a.Ledger.Rows)
	}
}

func deref(b *sample.Bytes) sample.Bytes {
	if b == nil {
		return 0
	}
	return *b
}

// blames checks the line that allocated most.
func blames(t testing.TB, a *explain.Answer, file string) {
	t.Helper()
	if len(a.Holders) == 0 || !strings.HasSuffix(a.Holders[0].File, file) {
		t.Errorf("holders %+v, want %s first", a.Holders, file)
	}
}
