package watch

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestResidentGrowthIsFoundAtTheLineThatTouchedIt(t *testing.T) {
	t.Parallel()
	for name, o := range nativeBuilds {
		t.Run(name, func(t *testing.T) { findsLines(t, 11, 0.97, o, "-pause", "30ms") })
	}
}

const staticGlibc = "-linkmode=external -extldflags=-static"

// The places of what is followed differ by version, those of the g by how C is linked. One of
// faultprofile.Period faults is sampled here, as it is for users.
func TestResidentGrowthIsFoundInProgramsOfEachVersion(t *testing.T) {
	t.Parallel()
	hwtest.LeftToMatrix(t, "programs of four releases, each linked in five ways")
	for _, version := range []string{"go1.20.14", "go1.24.13", "go1.26.8", "go1.27.2"} {
		for name, o := range nativeBuilds {
			o.Toolchain = version
			t.Run(version+"/"+name, func(t *testing.T) {
				shares.set("page faults", version, name, findsLines(t, faultprofile.Period, 0.97, o, "-each", "2097152", "-pause", "50ms"))
			})
		}
	}
}

// With jemalloc the line that asked for memory is the one that the kernel gave it to as long as nothing is given back. What
// realloc leaves, or free, others get without a fault: no event of the kernel tells who has it then.
func TestWithJemallocTheLineThatAskedIsFoundWhereNothingIsReallocated(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hasJemalloc)
	path := hwtest.Build(t, "testdata/resident", hwtest.BuildOptions{CGO: true})
	for only, least := range map[string]float64{"still": 0.97, "": 0.80} {
		k, truth := growWith(t, profiler(t, faultprofile.Period), []string{"LD_PRELOAD=" + jemalloc}, path, "-only", only, "-each", "2097152", "-pause", "50ms")
		found, _ := byLine(k.growth, places(t, path))
		share := right(found, truth)
		t.Logf("%q: %.2f %%", only, 100*share)
		shares.set("who asked", only, "jemalloc", share)
		if share < least {
			t.Errorf("%q: %.2f %% of the bytes are at the line that asked for them: %v of %v\n%s", only, 100*share, found, truth, k.gapText())
		}
	}
}

// findsLines wants a share of what a program's lines took to be found there. jemalloc gives a line
// pages that realloc left, which another one wrote first: what counts there is what the kernel gave.
func findsLines(t *testing.T, period uint64, least float64, o nativeBuild, args ...string) (share float64) {
	t.Helper()
	if o.need != nil {
		hwtest.Need(t, o.need)
	}
	if o.env != nil {
		args = append(args, "-first-touch")
	}
	path := hwtest.Build(t, "testdata/resident", o.BuildOptions)
	k, truth := growWith(t, profiler(t, period), o.env, path, args...)
	found, _ := byLine(k.growth, places(t, path))
	if share = right(found, truth); share < least {
		t.Errorf("%.2f %% of the bytes are at the right line: %v of %v\n%s", 100*share, found, truth, k.gapText())
	} else {
		t.Logf("%.2f %%", 100*share)
	}
	knowsMapper(t, k.growth, places(t, path))
	return share
}

// knowsMapper wants memory that a program maps by itself to be put down to the line that maps it, too, and none
// of an allocator's.
func knowsMapper(t *testing.T, growth []sample.ResidentGrowth, at map[int]string) {
	t.Helper()
	var written, known sample.Bytes
	for _, g := range growth {
		switch by, line := placeOf(g.Mapped, at), placeOf(g.Where, at); {
		case line == "mmap" && by == "mapper":
			known += g.Bytes
			fallthrough
		case line == "mmap":
			written += g.Bytes
		case len(g.Mapped) > 0 && line != "huge":
			t.Errorf("%d bytes that %q wrote first are said to be mapped at %q", g.Bytes, line, by)
		}
	}
	if written == 0 || float64(known) < 0.97*float64(written) {
		t.Errorf("who mapped memory is known of %d of %d bytes", known, written)
	}
}

// Memory is put down to the line that had it mapped: through a function of C, moved by mremap, at an address of the
// program's own; not where an allocator mapped it.
func TestWhoMappedMemoryIsKnownInAllForms(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/resident", hwtest.BuildOptions{CGO: true})
	at, p := places(t, path), profiler(t, 5)
	k, _ := grow(t, p, path, "-only", "mappers", "-each", "1048576", "-rounds", "24", "-pause", "50ms")
	by := map[string]sample.Bytes{}
	for _, g := range k.growth {
		if g.Kind == sample.ResidentNative && (placeOf(g.Where, at) == "written" || placeOf(g.Mapped, at) != "") {
			by[placeOf(g.Mapped, at)] += g.Bytes
		}
	}
	const each = 24 * sample.MiB
	want := map[string]sample.Bytes{"pool": each, "mapper": each, "mover": 2 * each, "fixed": each, "": each}
	if !p.SeesFixed() { // what writes it is named there
		want["fixed"], want[""] = 0, 2*each
	}
	for name, n := range want {
		more := sample.Bytes(6)
		if name == "" {
			more = 60 // before the runtime is read no mapping is told: a round or two
		}
		if got := by[name]; got < n*85/100 || got > n*(100+more)/100 {
			t.Errorf("%q mapped %d bytes, and %d were found\n%s", name, n, got, k.gapText())
		}
	}
}

func TestTwoLinesHaveTheirSharesOfTheGrowth(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/resident", hwtest.BuildOptions{CGO: true})
	k, truth := grow(t, profiler(t, 5), path, "-only", "two", "-rounds", "40", "-pause", "15ms")
	found, all := byLine(k.growth, places(t, path))
	if all == 0 {
		t.Fatalf("nothing was sampled:\n%s", k.gapText())
	}
	for _, name := range []string{"large", "little"} {
		got := 100 * float64(found[name]) / float64(found["large"]+found["little"])
		want := 100 * float64(truth[name]) / float64(truth["large"]+truth["little"])
		// 4,000 samples: one standard error is 0.7 points.
		if got < want-3 || got > want+3 {
			t.Errorf("%s: %.1f %% of the growth, by its own count %.1f %%", name, got, want)
		}
	}
}

func TestFramesOfCAreFoundWithoutFramePointers(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/resident", hwtest.BuildOptions{CGO: true})
	k, _ := grow(t, profiler(t, 7), path, "-rounds", "20", "-pause", "50ms")
	seen := map[string]bool{}
	for _, g := range k.growth {
		if placeOf(g.Where, places(t, path)) != "deep" {
			continue
		}
		var names []string
		for _, l := range g.Where {
			for _, f := range l.Frames {
				if f.Line == 0 {
					names = append(names, f.Func)
				}
			}
		}
		seen[strings.Join(names, " ")] = true
	}
	for chain := range seen {
		if strings.Contains(chain, "innermost inner deep") {
			return
		}
	}
	t.Errorf("no stack has the three C functions above the call: %v", seen)
}

// A program that lies about its stacks is sampled all the same, and neither it nor the watch is
// held up.
func TestAProgramThatForgesItsStacksIsNotFollowedInCircles(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/forger", hwtest.BuildOptions{CGO: true})
	k, _ := grow(t, profiler(t, 3), path)
	var all sample.Bytes
	deepest := 0
	for _, g := range k.growth {
		all += g.Bytes
		deepest = max(deepest, len(g.Where))
	}
	// 96 MiB were touched; what the ring had no room for is missing.
	if all < 32*sample.MiB {
		t.Errorf("%d bytes were sampled:\n%s", all, k.gapText())
	}
	if deepest < 40 || deepest > 90 { // 48 frames of Go at most, and 33 of C
		t.Errorf("the deepest stack has %d frames: a circle was not met, or not left", deepest)
	}
	for _, e := range k.events {
		if e.Kind == sample.EventExit && e.Value != 0 {
			t.Errorf("the program ended with code %d", e.Value)
		}
	}
}

func TestWhatCostsTooMuchIsSwitchedOffOnce(t *testing.T) {
	var b faultBudget
	now := time.Unix(1000, 0)
	over := 0
	for i := range 100 {
		now = now.Add(100 * time.Millisecond)
		// 40,000 faults a second take 8 ms of it, within a fiftieth.
		if b.charge(now, faultprofile.Cost{Faults: uint64(4000 * i)}) {
			t.Fatalf("spent after %d ticks of what is allowed", i)
		}
	}
	for i := range 1000 {
		now = now.Add(100 * time.Millisecond)
		if b.charge(now, faultprofile.Cost{Faults: uint64(4000*100 + 40000*i)}) {
			over++
		}
	}
	if over != 1 {
		t.Errorf("switched off %d times", over)
	}
}

func TestWhatAShellStartsIsSampledToo(t *testing.T) {
	t.Parallel()
	path := hwtest.Build(t, "testdata/resident", hwtest.BuildOptions{CGO: true})
	k, truth := grow(t, profiler(t, 7), "/bin/sh", "-c", path+" -rounds 6 -pause 20ms; true")
	found, _ := byLine(k.growth, places(t, path))
	if share := right(found, truth); share < 0.95 {
		t.Errorf("%.2f %% of the bytes are at the right line: %v of %v\n%s", 100*share, found, truth, k.gapText())
	}
}

func TestAWatchSamplesTheThreadsThatRunAlready(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	p := profiler(t, 7)
	path := hwtest.Build(t, "testdata/resident", hwtest.BuildOptions{CGO: true})
	o := startOther(t, "", path, "-only", "wait-mmap", "-each", "1048576", "-rounds", "40", "-pause", "10ms")
	source, err := New(Options{Narrow: true, Faults: p})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	if _, err := source.Attach(o.pid); err != nil {
		t.Fatal(err)
	}
	if _, err := o.in.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	k := &grownSink{}
	waited := make(chan error, 1)
	go func() { waited <- o.cmd.Wait() }() // its parent is this test
	if err := (&capture.Loop{Source: source, Sink: k}).Run(ctx); err != nil || ctx.Err() != nil {
		t.Fatal(errors.Join(err, ctx.Err()))
	}
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	found, _ := byLine(k.growth, places(t, path))
	if want := int64(40 << 20); found["mmap"] < want*95/100 || found["mmap"] > want*105/100 {
		t.Errorf("%d bytes at the line that touched %d: %v\n%s", found["mmap"], want, found, k.gapText())
	}
}

func TestSamplesWithoutRoomAreMadeUpForByThoseThatCameAtTheTime(t *testing.T) {
	t.Parallel()
	one, two := &faultCell{samples: 3, bytes: 300}, &faultCell{samples: 1, bytes: 100}
	f := faults{batch: []faultAdded{{one, 100}, {one, 100}, {one, 100}, {two, 100}}}
	f.makeUp(4)
	f.makeUp(4) // none since
	if one.bytes != 600 || two.bytes != 200 || one.samples != 3 {
		t.Errorf("%d and %d bytes of 4 samples that stand for 8", one.bytes, two.bytes)
	}
}

func TestAFaultOfAHugePageCountsAsOne(t *testing.T) {
	if !procfs.UsesHugePages() {
		hwtest.Need(t, func() error { return errors.New("transparent huge pages are switched off") })
	}
	path := hwtest.Build(t, "testdata/resident", hwtest.BuildOptions{CGO: true})
	const rounds, each = 8, 16 << 20
	k, truth := grow(t, profiler(t, 1), path, "-only", "huge", "-rounds", strconv.Itoa(rounds), "-each", strconv.Itoa(each), "-pause", "20ms")
	found, _ := byLine(k.growth, places(t, path))
	samples := uint64(0)
	for _, g := range k.growth {
		if placeOf(g.Where, places(t, path)) == "huge" {
			samples += g.Samples
		}
	}
	// As faults of 4 KiB they would be a five hundredth. The kernel may split some before they are looked at,
	// on a busy machine more than half, or give none: then there are as many faults more.
	if got := found["huge"]; got < truth["huge"]/8 || got > truth["huge"]*110/100 {
		t.Errorf("%d bytes were found, %d were touched, in %d faults", got, truth["huge"], samples)
	}
	t.Logf("%d faults for %d MiB", samples, truth["huge"]>>20)
}

// What is reserved next to the heap becomes the heap's later: until the mappings are read again, it is not known whose it is.
func TestWhatIsReservedIsNobodysYet(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	o := startOther(t, "", hwtest.Build(t, "testdata/resident", hwtest.BuildOptions{CGO: true}), "-only", "wait-mmap")
	p := readProcess(t, o.pid)
	defer p.close()
	target, err := faultTarget(p)
	if err != nil {
		t.Fatal(err)
	}
	b := newFaultBook(p, target)
	b.readAreas()
	arena := b.ranges[slices.IndexFunc(b.ranges, func(r sample.PageRange) bool { return r.Kind == sample.RangeArena })]
	if k, known := b.lookUp(arena.Start); !known || k != sample.ResidentHeap {
		t.Errorf("an arena is %q, known %v", k, known)
	}
	if k, known := b.lookUp(arena.End); known {
		t.Errorf("what is reserved behind an arena is %q", k)
	}
}

// readProcess opens a process whose runtime can be read.
func readProcess(t *testing.T, pid int) (p *process) {
	t.Helper()
	var m procfs.Mapper
	await(t, func() (ok bool) {
		var err error
		if p, err = openProcess(&m, "/proc", pid); err != nil {
			return false
		}
		if p.attachErr != nil && !isNotReady(p.attachErr) {
			t.Fatal(p.attachErr)
		}
		r, err := gomem.Attach(p.mem, p.bin, p.bias)
		if p.runtime = r; err != nil {
			p.close()
		}
		return err == nil
	})
	return p
}

// More samples than may wait come before the runtime is read: none of them counts as native for that.
func TestFaultsOfTheHeapBeforeTheRuntimeIsReadAreTheHeaps(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	path := hwtest.Build(t, "testdata/resident", hwtest.BuildOptions{CGO: true})
	o := startOther(t, "", path, "-only", "wait-mmap")
	p := readProcess(t, o.pid)
	defer p.close()
	ranges, err := p.runtime.Areas(nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := faultTarget(p)
	if err != nil {
		t.Fatal(err)
	}
	runtime := p.runtime
	p.runtime = nil // as it is while the machine is busy
	b, s := newFaultBook(p, target), &Source{}
	at := ranges[slices.IndexFunc(ranges, func(r sample.PageRange) bool { return r.Kind == sample.RangeArena })].Start
	const n = maxFaultsWaiting + 1000
	for range n {
		b.meet(&faultprofile.Sample{Address: at, Faults: 61, Place: faultprofile.Place{InGo: true, Registers: faultprofile.Registers{IP: target.Text}}}, s)
	}
	p.runtime = runtime
	b.catchUp(s)
	if want := sample.Bytes(n * 61 * 4096); len(b.order) != 1 || b.order[0].kind != sample.ResidentHeap || b.order[0].bytes < want*99/100 ||
		b.order[0].bytes > want {
		t.Errorf("%d stacks, the first of kind %q with %d bytes; %d faults of the heap came", len(b.order), b.order[0].kind, b.order[0].bytes, n*61)
	}
}
