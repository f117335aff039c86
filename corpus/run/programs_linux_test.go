package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// built has all programs of the corpus, each built once for the tests of this package.
var built = &builder{from: ".."}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "corpus-programs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built.dir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func compiled(t *testing.T, b *builder, r *run) string {
	t.Helper()
	r.Toolchain, r.Stripped = "", false
	file, _, err := b.build(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// inMatrix reports whether make matrix runs the tests.
func inMatrix() bool { return os.Getenv("HIGHWATER_MATRIX") == "1" }

// leftToMatrix notes in the list of make test what it leaves to make matrix, in the form of the product's own tests
// (internal/aside/hwtest).
func leftToMatrix(t *testing.T, what string) {
	t.Helper()
	const why = ": make test leaves it to make matrix"
	t.Log(what + why)
	path := os.Getenv("HIGHWATER_SKIPS")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s: %s%s\n", t.Name(), what, why)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Error(err)
	}
}

// tried are the families whose programs a test runs: in make test every sixth by mechanism. All are run where the corpus
// changes: nothing in Highwater changes what they keep.
func tried(t *testing.T) (some []*family) {
	t.Helper()
	if inMatrix() {
		return families
	}
	for i := 0; i < len(mechanisms); i += 6 {
		some = append(some, mechanisms[i])
	}
	leftToMatrix(t, fmt.Sprintf("runs the programs of %d further families", len(families)-len(some)))
	return some
}

// To compile and link all of them takes minutes.
func TestEveryProgramOfTheCorpusBuilds(t *testing.T) {
	t.Parallel()
	if !inMatrix() {
		leftToMatrix(t, "links all programs")
		t.SkipNow()
	}
	b := built
	for _, f := range families {
		if f.cgo && noCompiler() {
			t.Logf("%s needs a C compiler", f.name)
			continue
		}
		compiled(t, b, newRun(1, f, 0))
	}
}

func noCompiler() bool {
	_, err := exec.LookPath("gcc")
	return err != nil
}

// Of 48 MiB that pass through, the faulty program keeps all and the repaired one a
// part: else the truth that is written beside a recording is none.
func TestAProgramKeepsWhatItsTruthSaysAndItsRepairedFormDoesNot(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs two dozen programs")
	}
	t.Parallel()
	const all = 48 * mib
	b := built
	for _, f := range tried(t) {
		if f.trend != "growing" || f.server || f.child || f.cgo && noCompiler() || slices.Contains(f.classes(newRun(1, f, 0)), "shmem") {
			continue // served by another process, or not in this process's resident memory
		}
		program := compiled(t, b, newRun(1, f, 0))
		kept := residentAfter(t, program, all, 192*mib, all, f.args)
		// The steady part of some is 24 MiB; what is garbage may be as much as is live. What a slow machine
		// has not yet come to is in flight: at an eighth of the rate there is an eighth of that.
		repaired := kept
		for rate := int64(192 * mib); repaired > kept*9/10 && rate >= 3*mib; rate /= 8 {
			repaired = residentAfter(t, program, all, rate, 0, append([]string{"-repaired"}, f.args...))
		}
		if kept < all || repaired > kept*9/10 {
			t.Errorf("%s: resident %d MiB, repaired %d MiB, of %d MiB made", f.name, kept/mib, repaired/mib, all/mib)
		}
	}
}

// What comes and goes is at its peak as large as the truth says, and not in the
// repaired form.
func TestAnotherProgramThatComesAndGoesHasItsPeakAndItsRepairedFormDoesNot(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs some programs, up to a minute each")
	}
	t.Parallel()
	const total = 48 * mib
	if !inMatrix() {
		leftToMatrix(t, "runs the programs of others that come and go")
		t.SkipNow()
	}
	b := built
	for _, f := range others {
		if f.trend != "comes-and-goes" || f.innocent {
			continue
		}
		program := compiled(t, b, newRun(1, f, 0))
		want := f.steady + total
		if faulty := peakOf(t, program, total, want, "-for", "60s"); faulty < want {
			t.Errorf("%s: at most %d MiB resident; want %d, of which %d are steady", f.name, faulty/mib, want/mib, f.steady/mib)
		}
		if repaired := peakOf(t, program, total, want, "-for", "6s", "-repaired"); repaired > want*8/10 {
			t.Errorf("%s, repaired: %d MiB resident; the fault has %d", f.name, repaired/mib, want/mib)
		}
	}
}

// peakOf is the most that was resident of a program, of what is no file's, until it ends
// or has enough.
func peakOf(t *testing.T, program string, total, enough int64, args ...string) (most int64) {
	t.Helper()
	c := exec.Command(program, append(args, "-rate", fmt.Sprint(40*mib), "-unit", "32768", "-total", fmt.Sprint(total))...)
	c.Env, c.Dir = append(os.Environ(), "GOGC=25"), t.TempDir()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- c.Wait() }()
	looks := time.NewTicker(20 * time.Millisecond)
	defer looks.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%s: %v", program, err)
			}
			return most
		case <-looks.C:
			if kib, ok := inStatus(c.Process.Pid, anonymous); ok {
				most = max(most, kib<<10)
			}
			if most >= enough {
				c.Process.Kill()
				<-ended
				return most
			}
		}
	}
}

// patience is for what is there in a moment on a machine that does nothing else.
const patience = 20 * time.Second

var anonymous = regexp.MustCompile(`RssAnon:\s+(\d+) kB`)

var highest = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// residentAfter runs a program until it has made total bytes, and gives the most that was
// resident; where that is not enough yet, because goroutines were started that have not run, it looks on.
func residentAfter(t *testing.T, program string, total, rate, enough int64, args []string) int64 {
	t.Helper()
	args = append(args, "-for", "0", "-rate", fmt.Sprint(rate), "-unit", "32768", "-total", fmt.Sprint(total))
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), "GOGC=25")
	out, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { c.Process.Kill(); c.Wait() }()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), frame.Done) {
			most := resident(t, c.Process.Pid)
			for end := time.Now().Add(patience); most < enough && time.Now().Before(end); runtime.Gosched() {
				most = resident(t, c.Process.Pid)
			}
			return most
		}
	}
	t.Fatalf("%s %q ended before all was made", program, args)
	return 0
}

func resident(t *testing.T, pid int) int64 {
	t.Helper()
	kib, ok := inStatus(pid, highest)
	if !ok {
		t.Fatalf("process %d has no VmHWM", pid)
	}
	return kib << 10
}

// inStatus is an amount of a process that has not ended.
func inStatus(pid int, amount *regexp.Regexp) (kib int64, ok bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	m := amount.FindSubmatch(status)
	if m == nil {
		return 0, false
	}
	kib, err = strconv.ParseInt(string(m[1]), 10, 64)
	return kib, err == nil
}
