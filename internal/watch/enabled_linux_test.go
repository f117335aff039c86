package watch

import (
	"math"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/hwtest"
	"github.com/highwater-go/highwater/internal/sample"
)

// leaks is what testdata/leaks keeps, by the function that allocates it: objects,
// and the size of one.
var leaks = map[string]struct{ objects, size float64 }{
	"main.keepSmall": {1 << 19, 64},
	"main.keepPages": {8192, 4096},
	"main.keepLarge": {32, 1 << 20},
}

// estimate is a number of objects and its variance, by the sampling of the
// runtime: an object of size S is sampled with p = 1 - exp(-S/rate).
type estimate struct{ objects, variance float64 }

// estimates scales a profile's counts by function.
func estimates(p *sample.HeapProfile, sites []sample.Site) map[string]estimate {
	out := map[string]estimate{}
	for i, c := range p.Counts {
		inner := sites[i].Stack[sites[i].Hidden].Frames[0].Func
		n := float64(c.NowAllocs - c.NowFrees)
		q := -math.Expm1(-float64(sites[i].Size) / float64(p.Rate))
		e := out[inner]
		out[inner] = estimate{e.objects + n/q, e.variance + n*(1-q)/q/q}
	}
	return out
}

// Samples are drawn at random, so each cell may be off by chance: five standard
// errors are one in two million, four of all cells together one in sixteen
// thousand.
func TestAProfileThatWasSwitchedOnIsRightWithinItsError(t *testing.T) {
	var sum, variance float64
	for _, toolchain := range []string{"go1.20.14", "go1.22.12", "go1.24.13", "go1.26.8"} {
		for name, o := range map[string]hwtest.BuildOptions{"plain": {}, "stripped": {Strip: true}, "stripped PIE": {Strip: true, PIE: true}} {
			t.Run(toolchain+" "+name, func(t *testing.T) {
				o.Toolchain = toolchain
				k := &kept{}
				if code := run(t, Options{HeapProfile: true}, k, hwtest.Build(t, "testdata/leaks", o)); code != 3 {
					t.Fatalf("exit code %d", code)
				}
				p := k.programs[0]
				end := k.death(p.Key)
				if p.HeapProfile != sample.HeapProfileEnabled || end == nil || end.Profile == nil {
					t.Fatalf("heap profile %q: %s; %s", p.HeapProfile, p.WhyNot, k.gapText())
				}
				got := estimates(end.Profile, k.sites[p.Key])
				for function, want := range leaks {
					e := got[function]
					off := e.objects - want.objects
					if math.Abs(off) > 5*math.Sqrt(e.variance) {
						t.Errorf("%s: %.0f objects, want %.0f +- %.0f", function, e.objects, want.objects, math.Sqrt(e.variance))
					}
					sum += off * want.size
					variance += e.variance * want.size * want.size
				}
			})
		}
	}
	if math.Abs(sum) > 4*math.Sqrt(variance) {
		t.Errorf("all estimates together are %.0f bytes off, +- %.0f", sum, math.Sqrt(variance))
	}
	t.Logf("all estimates together are off by %.2f standard errors", sum/math.Sqrt(variance))
}

func TestARateThatChangesIsSaid(t *testing.T) {
	for _, c := range []struct {
		rate    string
		profile bool
		says    string
	}{
		{"0", false, "the heap profile of leaks: the program has set runtime.MemProfileRate to 0"},
		{"4096", true, "exact sizes in the heap profile of leaks: the program changed runtime.MemProfileRate from 524288 to 4096"},
		{"524288", true, ""},
	} {
		t.Run(c.rate, func(t *testing.T) {
			k := &kept{}
			run(t, Options{HeapProfile: true}, k, hwtest.Build(t, "testdata/leaks", hwtest.BuildOptions{Tags: "on"}), c.rate)
			end := k.death(k.programs[0].Key)
			if end == nil || (end.Profile != nil) != c.profile || !strings.Contains(k.gapText(), c.says) {
				t.Errorf("profile %v, gaps:\n%s", end != nil && end.Profile != nil, k.gapText())
			}
			if c.says == "" && strings.Contains(k.gapText(), "MemProfileRate") {
				t.Errorf("gaps:\n%s", k.gapText())
			}
		})
	}
}
