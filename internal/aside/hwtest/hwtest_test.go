package hwtest_test

import (
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// recorder is a test that notes how it ends; the panic ends it.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Name() string                      { return "TestRecorded" }
func (r *recorder) Skipf(format string, args ...any)  { r.end("skip: "+format, args...) }
func (r *recorder) Fatalf(format string, args ...any) { r.end("fail: "+format, args...) }
func (r *recorder) Errorf(format string, args ...any) {
	r.ended = fmt.Sprintf("error: "+format, args...)
}

func (r *recorder) end(format string, args ...any) {
	r.ended = fmt.Sprintf(format, args...)
	panic(r)
}

// ending runs f as a test of its own and gives how it ended, "" if well.
func ending(t *testing.T, f func(testing.TB)) string {
	r := &recorder{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(r) {
				panic(p)
			}
		}()
		f(r)
	}()
	return r.ended
}

func TestASkipNamesItsReasonAndIsAFailureWhereNoneIsAllowed(t *testing.T) {
	missing := func() error { return errors.New("needs a moon") }
	present := func() error { return nil }
	skips := filepath.Join(t.TempDir(), "skips")
	t.Setenv("HIGHWATER_SKIPS", skips)
	t.Setenv("HIGHWATER_CHECK", "")
	t.Setenv("HIGHWATER_NO_SKIP", "")
	need := func(t testing.TB) { hwtest.Need(t, present, missing) }
	if got := ending(t, need); got != "skip: SKIP-REASON: needs a moon" {
		t.Errorf("ended with %q", got)
	}
	if b, err := os.ReadFile(skips); err != nil || string(b) != "TestRecorded: needs a moon\n" {
		t.Errorf("noted %q, %v", b, err)
	}
	if got := ending(t, func(t testing.TB) { hwtest.Need(t, present) }); got != "" {
		t.Errorf("with all present it ended with %q", got)
	}
	t.Setenv("HIGHWATER_NO_SKIP", "1")
	if got := ending(t, need); !strings.HasPrefix(got, "fail:") || !strings.Contains(got, "needs a moon") {
		t.Errorf("ended with %q", got)
	}
}

func TestTheFastLoopSkipsWhatIsSlowThoughNothingIsMissing(t *testing.T) {
	t.Setenv("HIGHWATER_SKIPS", "")
	t.Setenv("HIGHWATER_NO_SKIP", "")
	slow := map[string]func(testing.TB){
		"needs more than":       func(t testing.TB) { hwtest.Need(t, func() error { return nil }) },
		"builds a program":      func(t testing.TB) { hwtest.Build(t, "no such place", hwtest.BuildOptions{}) },
		"starts a program":      func(t testing.TB) { hwtest.StartPiped(t, exec.Command("missing-program")) },
		"opens many recordings": func(t testing.TB) { hwtest.Slow(t, "opens many recordings") },
	}
	t.Setenv("HIGHWATER_CHECK", "1")
	for reason, f := range slow {
		if got := ending(t, f); !strings.HasPrefix(got, "skip: SKIP-REASON: "+reason) {
			t.Errorf("%s: ended with %q", reason, got)
		}
	}
	t.Setenv("HIGHWATER_CHECK", "")
	if got := ending(t, slow["opens many recordings"]); got != "" {
		t.Errorf("elsewhere it ended with %q", got)
	}
}

func TestAGoldenIsComparedAndRewrittenOnRequest(t *testing.T) {
	t.Chdir(t.TempDir())
	golden := func(text string) string {
		return ending(t, func(t testing.TB) { hwtest.Golden(t, "sub/answer.txt", []byte(text)) })
	}
	t.Setenv("UPDATE", "1")
	if got := golden("one\ntwo\n"); got != "" {
		t.Fatal(got)
	}
	t.Setenv("UPDATE", "")
	if got := golden("one\ntwo\n"); got != "" {
		t.Error(got)
	}
	if got := golden("one\nthree\n"); !strings.Contains(got, "-two\n+three\n") {
		t.Errorf("the difference is %q", got)
	}
}

// program writes a module whose program prints text.
func program(t *testing.T, dir, text string) {
	t.Helper()
	write(t, dir, "go.mod", "module example.com/printer\n\ngo 1.20\n")
	write(t, dir, "main.go", fmt.Sprintf("package main\n\nfunc main() { print(%q) }\n", text))
}

func output(t *testing.T, path string) string {
	t.Helper()
	b, err := exec.Command(path).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAProgramIsBuiltAsItsOptionsSay(t *testing.T) {
	t.Setenv("HIGHWATER_CACHE", t.TempDir())
	dir := t.TempDir()
	program(t, dir, "hello")
	plain := hwtest.Build(t, dir, hwtest.BuildOptions{})
	if got := output(t, plain); got != "hello" {
		t.Errorf("it prints %q", got)
	}
	if again := hwtest.Build(t, dir, hwtest.BuildOptions{}); again != plain {
		t.Errorf("built again as %s", again)
	}
	special := hwtest.Build(t, dir, hwtest.BuildOptions{PIE: true, Strip: true, Ldflags: "-X=main.unused=1", Tags: "extra"})
	f, err := elf.Open(special)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Type != elf.ET_DYN || f.Section(".symtab") != nil {
		t.Errorf("type %v, symbols %v", f.Type, f.Section(".symtab"))
	}
	info, err := buildinfo.ReadFile(special)
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprint(info.Settings); !strings.Contains(s, "{-tags extra}") || !strings.Contains(s, "{CGO_ENABLED 0}") {
		t.Errorf("settings %s", s)
	}
}

func TestAProgramIsBuiltByAnotherToolchain(t *testing.T) {
	hwtest.Need(t, hwtest.Toolchain("go1.24.13"))
	t.Setenv("HIGHWATER_CACHE", t.TempDir())
	dir := t.TempDir()
	program(t, dir, "hello")
	info, err := buildinfo.ReadFile(hwtest.Build(t, dir, hwtest.BuildOptions{Toolchain: "go1.24.13"}))
	if err != nil || info.GoVersion != "go1.24.13" {
		t.Errorf("built by %v, %v", info, err)
	}
}

func TestAPublicModuleIsBuiltUnderItsOwnName(t *testing.T) {
	t.Setenv("HIGHWATER_CACHE", t.TempDir())
	path := hwtest.Module(t, "golang.org/x/perf@v0.0.0-20260908200009-22c9c6c9d4da", "cmd/benchfilter", hwtest.BuildOptions{})
	info, err := buildinfo.ReadFile(path)
	if err != nil || info.Main.Path != "golang.org/x/perf" || filepath.Base(path) != "benchfilter" {
		t.Errorf("%s: %v, %v", path, info, err)
	}
}

func TestAThrowawayCgroupIsGoneAfterTheTest(t *testing.T) {
	hwtest.Need(t, hwtest.Cgroup)
	var dir string
	left := exec.Command("cat")
	stdin, err := left.StdinPipe() // open: it ends by no other way than a kill
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	t.Run("inner", func(t *testing.T) {
		c := hwtest.Limit(t, 64*sample.MiB)
		dir = c.Dir
		if err := c.Add(left.Process.Pid); err != nil {
			t.Fatal(err)
		}
	})
	left.Wait()
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", dir, err)
	}
}

func TestTheRightsOfThisMachineCanBeTried(t *testing.T) {
	// Each ends with an answer and leaves nothing behind; which, is the machine's.
	for name, need := range map[string]func() error{
		"root": hwtest.Root, "cgroup": hwtest.Cgroup, "version 1": hwtest.CgroupV1, "version 2": hwtest.CgroupV2, "ptrace": hwtest.Ptrace,
		"QEMU": hwtest.QEMU, "chromium": hwtest.Chromium, "cgo": hwtest.CGO, "no toolchain": hwtest.Toolchain("go1.0.999"),
	} {
		t.Logf("%s: %v", name, need())
	}
	if hwtest.CgroupV1() == nil && hwtest.CgroupV2() == nil {
		t.Error("memory is in both versions")
	}
	if hwtest.Toolchain("go1.0.999")() == nil {
		t.Error("a toolchain that never was is there")
	}
}

func TestAPipedProgramIsAskedAndEndsWithTheTest(t *testing.T) {
	hwtest.Slow(t, "starts a program")
	var p *hwtest.Piped
	t.Run("", func(t *testing.T) {
		p = hwtest.StartPiped(t, exec.Command("sh", "-c", `echo ready; while read word; do echo "$word $word"; echo END; done; exec sleep 1000`))
		if line := p.Line(); line != "ready" {
			t.Errorf("its first line is %q", line)
		}
		if lines := p.Ask("hear %d", 1); len(lines) != 1 || lines[0] != "hear 1 hear 1" {
			t.Errorf("it answers %q", lines)
		}
	})
	if err := p.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("it ended by %v", err)
	}
}
