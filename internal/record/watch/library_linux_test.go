package watch

import (
	"math"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// leaked wants the profile of what testdata/leaks keeps.
func leaked(t *testing.T, p *sample.HeapProfile, sites []sample.Site) {
	t.Helper()
	got := estimates(p, sites)
	for function, want := range leaks {
		e := got[function]
		// The runtime allocates, too, where it starts a collection.
		if math.Abs(e.objects-want.objects) > 5*math.Sqrt(e.variance)+4 {
			t.Errorf("%s: %.0f objects, want %.0f +- %.0f", function, e.objects, want.objects, math.Sqrt(e.variance))
		}
	}
}

func TestAGoLibraryOfAProgramInCIsReadAtItsEnd(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]hwtest.BuildOptions{
		"plain": {Toolchain: "go1.26.8"}, "stripped": {Toolchain: "go1.26.8", Strip: true}, "old": {Toolchain: "go1.20.14", Strip: true},
	} {
		t.Run(name, func(t *testing.T) {
			o.Mode, o.Tags = "c-shared", "library"
			k := &kept{}
			if code := run(t, Options{HeapProfile: true}, k, hwtest.LibraryHost(t), hwtest.Build(t, "testdata/leaks", o)); code != 3 {
				t.Fatalf("exit code %d", code)
			}
			p := k.programs[len(k.programs)-1]
			end := k.death(p.Key)
			if p.Go == nil || p.Go.Version != o.Toolchain || p.Name != "host" || p.HeapProfile != sample.HeapProfileEnabled || end == nil || end.Profile == nil ||
				end.Go == nil {
				t.Fatalf("program %+v; its end %+v; gaps:\n%s", p, end, k.gapText())
			}
			leaked(t, end.Profile, k.sites[p.Key])
		})
	}
}

func TestAGoLibraryThatIsLoadedLaterIsFound(t *testing.T) {
	t.Parallel()
	library := hwtest.Build(t, "testdata/leaks", hwtest.BuildOptions{Mode: "c-shared", Tags: "library,on"})
	o := startOther(t, "", hwtest.LibraryHost(t), library, "524288", "later")
	await(t, func() bool {
		libraries, err := new(procfs.Mapper).Libraries("/proc", o.pid)
		return err == nil && len(libraries) > 1 // the loader and libc
	})
	a := attachTo(t, o.pid, Options{}, nil)
	k := &kept{}
	points := 0
	k.onPoint = func(*sample.Point) {
		if points++; points == 3 {
			o.in.Close()
		}
	}
	a.watch(t, t.Context(), k)
	first, last := k.programs[0], k.programs[len(k.programs)-1]
	end := k.death(last.Key)
	if first.Go != nil || last.Go == nil || last.Key != first.Key || end == nil || end.Profile == nil {
		t.Fatalf("programs %+v; its end %+v; gaps:\n%s", k.programs, end, k.gapText())
	}
	leaked(t, end.Profile, k.sites[last.Key])
}

func TestALibraryWithoutAHeapProfileIsSaidToHaveNone(t *testing.T) {
	t.Parallel()
	k := &kept{}
	run(t, Options{}, k, hwtest.LibraryHost(t), hwtest.Build(t, "testdata/leaks", hwtest.BuildOptions{Mode: "c-shared", Tags: "library"}))
	p := k.programs[len(k.programs)-1]
	if p.HeapProfile != sample.HeapProfileOff || !strings.HasPrefix(p.WhyNot, "the linker of leaks switched heap profiling off, and --no-heap-profile") ||
		!strings.Contains(k.gapText(), p.WhyNot) {
		t.Errorf("program %+v; gaps:\n%s", p, k.gapText())
	}
	if end := k.death(p.Key); end == nil || end.Go == nil || end.Profile != nil {
		t.Errorf("its end: %+v", end)
	}
}
