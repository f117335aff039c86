package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/capture"
	"github.com/highwater-go/highwater/internal/faultprofile"
	"github.com/highwater-go/highwater/internal/hwtest"
	"github.com/highwater-go/highwater/internal/sample"
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
	defer source.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	_, err = source.Start(Command{Path: path, Args: append([]string{path}, args...), Env: env, Files: []*os.File{null, w, os.Stderr}, OwnGroup: true})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	k = &nativeSink{}
	if err := (&capture.Loop{Source: source, Sink: k}).Run(ctx); err != nil || ctx.Err() != nil {
		t.Fatal(errors.Join(err, ctx.Err(), source.Kill()))
	}
	return k, taken(t, r)
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

// nativeBuilds are the ways in which C's allocator comes to a program.
var nativeBuilds = map[string]struct {
	hwtest.BuildOptions
	env  []string
	need func() error
}{
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
	for name, o := range nativeBuilds {
		t.Run(name, func(t *testing.T) { findsLive(t, o.BuildOptions, o.env, o.need) })
	}
}

// The places of what is followed differ by version.
func TestLiveNativeBytesAreFoundInProgramsOfEachVersion(t *testing.T) {
	if os.Getenv("HIGHWATER_NATIVE_VERSIONS") == "" {
		t.Skip("40 builds: HIGHWATER_NATIVE_VERSIONS=1 asks for it")
	}
	for _, version := range []string{"go1.20.14", "go1.21.13", "go1.22.12", "go1.23.12", "go1.24.13", "go1.25.7", "go1.26.8", "go1.27.2"} {
		for name, o := range nativeBuilds {
			o.Toolchain = version
			t.Run(version+"/"+name, func(t *testing.T) { findsLive(t, o.BuildOptions, o.env, o.need) })
		}
	}
}

// findsLive wants 99 % of what a program's lines keep to be found there, and nothing at the line that
// frees all.
func findsLive(t *testing.T, o hwtest.BuildOptions, env []string, need func() error) {
	t.Helper()
	if need != nil {
		hwtest.Need(t, need)
	}
	path := hwtest.Build(t, "testdata/allocator", o)
	k, truth := allocate(t, allocs(t, 1), env, path, "-each", "65536", "-rounds", "8", "-pause", "110ms")
	found, all := k.liveByLine(places(t, path))
	share, sum := right(found, truth), int64(0)
	for _, n := range truth {
		sum += n
	}
	if share < 0.99 || found["churn"] > 0 || all-found[""] > sum*101/100 || k.last.Lost > 0 {
		t.Errorf("%.2f %% of the bytes are at the right line: %v of %v, %d samples lost\n%s", 100*share, found, truth, k.last.Lost, k.gapText())
	} else {
		t.Logf("%.2f %%", 100*share)
	}
}
