package watch

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// nativeSink keeps C's live blocks, too.
type nativeSink struct {
	kept
	last  sample.NativeReading
	cells map[string]sample.NativeLive
}

func (k *nativeSink) Native(r sample.NativeReading, list []sample.NativeLive) error {
	k.last = r
	if k.cells == nil {
		k.cells = map[string]sample.NativeLive{}
	}
	for _, l := range list {
		k.cells[fmt.Sprint(l.Where)] = l
	}
	return nil
}

// allocs is a profiler with that many bytes to a sample; the test is skipped where there is no right
// to have one, or the kernel is too old.
func allocs(t testing.TB, interval uint64) *faultprofile.AllocProfiler {
	t.Helper()
	var p *faultprofile.AllocProfiler
	hwtest.Need(t, func() (err error) {
		p, err = faultprofile.NewAllocs(interval)
		return err
	})
	t.Cleanup(func() { p.Close() })
	return p
}

// allocate runs a program of known live blocks and gives what was seen, and what its lines keep by
// its own count.
func allocate(t *testing.T, p *faultprofile.AllocProfiler, env []string, path string, args ...string) (k *nativeSink, truth map[string]int64) {
	t.Helper()
	hwtest.Need(t, hwtest.Ptrace)
	source, err := New(Options{HeapProfile: true, Allocs: p})
	if err != nil {
		t.Fatal(err)
	}
	return allocateIn(t, source, env, path, args...)
}

// allocateIn is that with a source, which is closed.
func allocateIn(t *testing.T, source *Source, env []string, path string, args ...string) (k *nativeSink, truth map[string]int64) {
	t.Helper()
	k = &nativeSink{}
	return k, recorded(t, source, k, env, path, args)
}

// liveByLine is the live bytes by the innermost marked line.
func (k *nativeSink) liveByLine(at map[int]string) (lines map[string]int64, all int64) {
	lines = map[string]int64{}
	for _, l := range k.cells {
		lines[markedLine(l.Where, at)] += int64(l.Bytes)
		all += int64(l.Bytes)
	}
	return lines, all
}

func markedLine(where []sample.Location, at map[int]string) string {
	for _, l := range where {
		for _, f := range l.Frames {
			if strings.HasSuffix(f.File, "allocator/main.go") && !strings.Contains(f.Func, "._cgo_") && at[f.Line] != "" {
				return at[f.Line]
			}
		}
	}
	return ""
}

// nativeBuild is one way in which C's allocator comes to a program.
type nativeBuild struct {
	hwtest.BuildOptions
	env  []string
	need func() error
}

// nativeBuilds are all that are tried.
var nativeBuilds = map[string]nativeBuild{
	"dynamic":      {BuildOptions: hwtest.BuildOptions{CGO: true}},
	"static":       {BuildOptions: hwtest.BuildOptions{CGO: true, Ldflags: staticGlibc}},
	"pie-stripped": {BuildOptions: hwtest.BuildOptions{CGO: true, PIE: true, Strip: true}},
	"musl":         {BuildOptions: hwtest.BuildOptions{CGO: true, Ldflags: staticGlibc, Env: []string{"CC=musl-gcc"}}, need: hwtest.Program("musl-gcc")},
	"jemalloc":     {BuildOptions: hwtest.BuildOptions{CGO: true}, env: []string{"LD_PRELOAD=" + jemalloc}, need: hasJemalloc},
}

const jemalloc = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"

func hasJemalloc() error {
	_, err := os.Stat(jemalloc)
	return err
}

// Every allocation is sampled here, so that nothing is left to chance.
func TestLiveNativeBytesAreAtTheLineThatAskedForThem(t *testing.T) {
	t.Parallel()
	for name, o := range nativeBuilds {
		t.Run(name, func(t *testing.T) { findsLive(t, o.BuildOptions, o.env, o.need) })
	}
}

// The places of what is followed differ by version.
func TestLiveNativeBytesAreFoundInProgramsOfEachVersion(t *testing.T) {
	t.Parallel()
	hwtest.LeftToMatrix(t, "programs of eight releases, each linked in five ways")
	for _, version := range []string{"go1.20.14", "go1.21.13", "go1.22.12", "go1.23.12", "go1.24.13", "go1.25.7", "go1.26.8", "go1.27.2"} {
		for name, o := range nativeBuilds {
			o.Toolchain = version
			t.Run(version+"/"+name, func(t *testing.T) { shares.set("live", version, name, findsLive(t, o.BuildOptions, o.env, o.need)) })
		}
	}
}

// findsLive wants 99 % of what a program's lines keep to be found there, and nothing at the line that
// frees all.
func findsLive(t *testing.T, o hwtest.BuildOptions, env []string, need func() error) (share float64) {
	t.Helper()
	if need != nil {
		hwtest.Need(t, need)
	}
	path := hwtest.Build(t, "testdata/allocator", o)
	k, truth := allocate(t, allocs(t, 1), env, path, "-each", "65536", "-rounds", "8", "-pause", "110ms")
	found, all := k.liveByLine(places(t, path))
	sum := int64(0)
	share = right(found, truth)
	for _, n := range truth {
		sum += n
	}
	if share < 0.99 || found["churn"] > 0 || all-found[""] > sum*101/100 || k.last.Lost > 0 {
		t.Errorf("%.2f %% of the bytes are at the right line: %v of %v, %d samples lost\n%s", 100*share, found, truth, k.last.Lost, k.gapText())
	} else {
		t.Logf("%.2f %%", 100*share)
	}
	return share
}

func TestTwoLinesHaveTheirSharesOfTheLiveBytes(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/allocator", hwtest.BuildOptions{CGO: true})
	k, truth := allocate(t, allocs(t, 16<<10), nil, path, "-only", "two", "-rounds", "40", "-each", "1048576", "-pause", "15ms")
	found, _ := k.liveByLine(places(t, path))
	if found["large"]+found["little"] == 0 {
		t.Fatalf("nothing was sampled:\n%s", k.gapText())
	}
	for _, name := range []string{"large", "little"} {
		got := 100 * float64(found[name]) / float64(found["large"]+found["little"])
		want := 100 * float64(truth[name]) / float64(truth["large"]+truth["little"])
		// 4,500 samples: one standard error is 0.7 points.
		if got < want-3 || got > want+3 {
			t.Errorf("%s: %.1f %% of what is live, by its own count %.1f %%", name, got, want)
		}
	}
	// The estimate is without bias, and says how far off it may be.
	for _, name := range []string{"large", "little"} {
		off, sum := float64(found[name]-truth[name]), 0.0
		for _, l := range k.cells {
			if markedLine(l.Where, places(t, path)) == name {
				sum += float64(l.Error) * float64(l.Error)
			}
		}
		if one := math.Sqrt(sum); math.Abs(off) > 5*one {
			t.Errorf("%s: %d bytes of %d, with a standard error of %.0f", name, found[name], truth[name], one)
		}
	}
}

func TestWhatWasFreedIsNotLive(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/allocator", hwtest.BuildOptions{CGO: true})
	k, _ := allocate(t, allocs(t, 1), nil, path, "-only", "freed", "-rounds", "4", "-each", "65536", "-pause", "110ms")
	seen := uint64(0)
	for _, l := range k.cells {
		name := markedLine(l.Where, places(t, path))
		if name != "" && (l.Bytes != 0 || l.Samples != 0 || !l.Oldest.IsZero()) {
			t.Errorf("%s: %d bytes in %d samples are live", name, l.Bytes, l.Samples)
		}
		if name != "" {
			seen += uint64(l.Allocated)
		}
	}
	if seen < 8*60_000 {
		t.Errorf("%d bytes were allocated by the marked lines:\n%s", seen, k.gapText())
	}
}

func TestAThreadThatCMadeHasCsFunction(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/allocator", hwtest.BuildOptions{CGO: true})
	k, truth := allocate(t, allocs(t, 1), nil, path, "-only", "thread", "-rounds", "4", "-pause", "110ms")
	found := sample.Bytes(0)
	for _, l := range k.cells {
		if strings.Contains(fmt.Sprint(l.Where), "{ownThread ") {
			found += l.Bytes
		}
	}
	if int64(found) < truth["thread"]*99/100 {
		t.Errorf("%d of %d bytes have the thread's function:\n%s", found, truth["thread"], k.gapText())
	}
}

func TestLiveBlocksHaveAnAge(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/allocator", hwtest.BuildOptions{CGO: true})
	k, _ := allocate(t, allocs(t, 1), nil, path, "-only", "two", "-rounds", "8", "-each", "65536", "-pause", "100ms")
	for _, l := range k.cells {
		if markedLine(l.Where, places(t, path)) != "little" {
			continue
		}
		oldest, median := l.At.Sub(l.Oldest), l.At.Sub(l.Median)
		if oldest < 500*time.Millisecond || median >= oldest || median < 100*time.Millisecond {
			t.Errorf("blocks of eight rounds in 0.8 s: the oldest is %v old, the one in the middle %v", oldest, median)
		}
		return
	}
	t.Errorf("the line was not seen:\n%s", k.gapText())
}

func TestAProgramThatCallsTooOftenIsLetGo(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	path := hwtest.Build(t, "testdata/allocator", hwtest.BuildOptions{CGO: true})
	p := allocs(t, 1)
	source, err := New(Options{HeapProfile: true, Allocs: p})
	if err != nil {
		t.Fatal(err)
	}
	source.native.budget = callBudget{last: time.Now(), callsLeft: -1 << 40} // how fast this machine is does not matter
	k, _ := allocateIn(t, source, nil, path, "-only", "two", "-each", "65536", "-rounds", "10", "-pause", "100ms")
	if !strings.Contains(k.last.Ended, "250000 times a second") || !strings.Contains(k.gapText(), "250000 times a second") {
		t.Errorf("the probes ended for %q:\n%s", k.last.Ended, k.gapText())
	}
	// 230 blocks of a round, and some more.
	if c := p.Cost(); c.Allocs > 2000 {
		t.Errorf("%d calls were met", c.Allocs)
	}
}

func TestTheBudgetOfProbesIsSpentOnceAndAllowsAStart(t *testing.T) {
	var b callBudget
	now := time.Unix(1000, 0)
	calls := uint64(0)
	for range 100 { // 200,000 calls a second
		now, calls = now.Add(100*time.Millisecond), calls+20_000
		if b.charge(now, faultprofile.AllocCost{Allocs: calls}, false) {
			t.Fatalf("spent by what is allowed: %s", b.why)
		}
	}
	if now, calls = now.Add(100*time.Millisecond), calls+600_000; b.charge(now, faultprofile.AllocCost{Allocs: calls}, false) {
		t.Errorf("600,000 calls at once, as at a start, are too much: %s", b.why)
	}
	slow := callBudget{}
	for i := range 40 { // 10,000 calls a second that are stepped over
		slow.charge(now.Add(time.Duration(i)*time.Second), faultprofile.AllocCost{Frees: uint64(10_000 * i)}, true)
	}
	if slow.why == "" {
		t.Error("a sixth of a processor for probes is allowed")
	}
}

// What a probe changes are bytes of the program's memory, and they are put back.
func TestTheCodeOfTheProgramIsRestored(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	path := hwtest.Build(t, "testdata/allocator", hwtest.BuildOptions{CGO: true})
	p := allocs(t, 0)
	o := startOther(t, "", path, "-wait")
	await(t, func() bool { return libcOf(t, o.pid).End != 0 })
	before := codeOfLibc(t, o.pid)
	source, err := New(Options{Narrow: true, Allocs: p})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Attach(o.pid); err != nil {
		t.Fatal(err)
	}
	during := codeOfLibc(t, o.pid)
	if n := differences(before, during); n == 0 || n > 16 {
		t.Errorf("%d bytes of libc's code are changed", n)
	}
	if err := source.Close(); err != nil {
		t.Fatal(err)
	}
	p.Detach(o.pid)
	if n := differences(before, codeOfLibc(t, o.pid)); n != 0 {
		t.Errorf("%d bytes of libc's code are not restored", n)
	}
	if _, err := o.in.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if err := o.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// codeOfLibc is libc's code in a process.
func codeOfLibc(t *testing.T, pid int) []byte {
	t.Helper()
	a := libcOf(t, pid)
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	b := make([]byte, a.End-a.Start)
	if _, err := mem.ReadAt(b, int64(a.Start)); err != nil {
		t.Fatal(err)
	}
	return b
}

// libcOf is where the code of libc lies in a process, the zero Mapping before it is loaded.
func libcOf(t *testing.T, pid int) procfs.Mapping {
	t.Helper()
	var m procfs.Mapper
	all, err := m.Areas("/proc", pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if strings.Contains(a.Path, "/libc.so") && a.Perms[2] == 'x' {
			return a
		}
	}
	return procfs.Mapping{}
}

func differences(a, b []byte) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// Two watches of one program see the same, and neither disturbs the other.
func TestTwoWatchesMayProbeOneProgram(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/allocator", hwtest.BuildOptions{CGO: true})
	o := startOther(t, "", path, "-wait", "-each", "65536", "-rounds", "4", "-pause", "110ms")
	var sinks []*nativeSink
	var loops sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 2 {
		source, err := New(Options{Narrow: true, Allocs: allocs(t, 1)})
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		if _, err := source.Attach(o.pid); err != nil && len(sinks) == 0 {
			t.Fatal(err) // the second cannot trace it, and probes it all the same
		}
		k := &nativeSink{}
		sinks = append(sinks, k)
		loops.Go(func() {
			if err := (&capture.Loop{Source: source, Sink: k}).Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := o.in.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if err := o.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	loops.Wait()
	for i, k := range sinks {
		if found, _ := k.liveByLine(places(t, path)); found["deep"] == 0 || found["halved"] == 0 || found["churn"] != 0 {
			t.Errorf("watch %d saw %v:\n%s", i, found, k.gapText())
		}
	}
}

// A program that lies about its stacks is probed all the same.
func TestProbesOfAProgramThatForgesItsStacksEnd(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/forger", hwtest.BuildOptions{CGO: true})
	k, _ := allocate(t, allocs(t, 1), nil, path)
	for _, e := range k.events {
		if e.Kind == sample.EventExit && e.Value != 0 {
			t.Errorf("the program ended with code %d", e.Value)
		}
	}
	for _, l := range k.cells {
		if len(l.Where) > 90 {
			t.Errorf("a stack of %d frames", len(l.Where))
		}
	}
}

func TestAStaticProgramWithoutSymbolsHasNoProbesAndThatIsSaid(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/allocator", hwtest.BuildOptions{CGO: true, Ldflags: staticGlibc, Strip: true})
	k, _ := allocate(t, allocs(t, 1), nil, path, "-only", "two", "-rounds", "3", "-pause", "110ms")
	if len(k.cells) > 0 || !strings.Contains(k.gapText(), "the symbols were stripped") {
		t.Errorf("%d stacks:\n%s", len(k.cells), k.gapText())
	}
}

func TestWhatAShellStartsIsProbedToo(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/allocator", hwtest.BuildOptions{CGO: true})
	k, truth := allocate(t, allocs(t, 1), nil, "/bin/sh", "-c", path+" -each 65536 -rounds 4 -pause 110ms; true")
	found, _ := k.liveByLine(places(t, path))
	if share := right(found, truth); share < 0.99 {
		t.Errorf("%.2f %% of the bytes are at the right line: %v of %v\n%s", 100*share, found, truth, k.gapText())
	}
}
