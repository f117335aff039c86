package watch

import (
	"context"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
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
	t.Parallel()
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
	t.Parallel()
	for _, c := range []struct {
		rate    string
		profile bool
		says    string
	}{
		{"0", false, "the heap profile of leaks: the program has set runtime.MemProfileRate to 0"},
		{"4096", true, "exact sizes in the heap profile of leaks: the program changed runtime.MemProfileRate from 524288 to 4096"},
		{"1", true, "exact sizes in the heap profile of leaks: the program changed runtime.MemProfileRate from 524288 to 1"},
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

// A program may choose its rate before its main function begins: all of its samples
// are of that rate.
func TestARateThatIsSetAtTheStartIsTheRate(t *testing.T) {
	for _, toolchain := range []string{"go1.20.14", "go1.26.8"} {
		for _, rate := range []string{"1", "4096", "2097152", "0"} {
			t.Run(toolchain+" "+rate, func(t *testing.T) {
				t.Setenv("INIT_RATE", rate)
				k := &kept{}
				run(t, Options{HeapProfile: true}, k, hwtest.Build(t, "testdata/leaks", hwtest.BuildOptions{Toolchain: toolchain, Tags: "on"}))
				key := k.programs[0].Key
				end := k.death(key)
				if end == nil || (end.Profile == nil) != (rate == "0") || strings.Contains(k.gapText(), "MemProfileRate") != (rate == "0") {
					t.Fatalf("its end %+v, gaps:\n%s", end, k.gapText())
				}
				if rate != "0" {
					leaked(t, end.Profile, k.sites[key])
				}
			})
		}
	}
}

// Whoever comes later does not see the change, but sees that the samples do not add
// up.
func TestARateThatWasChangedBeforeTheWatchIsSaid(t *testing.T) {
	t.Parallel()
	target := hwtest.Build(t, "../../eyes/gomem/testdata/target", hwtest.BuildOptions{})
	for _, c := range []struct {
		commands string
		rate     int64
		told     bool
	}{
		{"allocate 300000\ngc\n", 524288, false}, // 48 MB
		{"allocate 300000\nrate 1\ngc\n", 1, true},
		{"allocate 300000\nrate 4096\ngc\n", 4096, true},
		{"rate 1\nallocate 300000\nrate 524288\ngc\n", 524288, true},
		{"rate 1\nallocate 300000\ngc\n", 1, false},
		{"rate 4096\nallocate 300000\ngc\n", 4096, false},
	} {
		t.Run(strings.ReplaceAll(c.commands, "\n", " "), func(t *testing.T) {
			t.Parallel()
			a := attachTo(t, obeyed(t, target, c.commands), Options{}, nil)
			k := &kept{}
			a.watch(t, k.afterUnderWay(t), k)
			if rate := k.lastRate(); rate != c.rate {
				t.Fatalf("the rate was %d at the end", rate)
			}
			if got := strings.Contains(k.gapText(), exactSizes+"target"); got != c.told {
				t.Errorf("told %v, want %v; gaps:\n%s", got, c.told, k.gapText())
			}
		})
	}
}

// afterUnderWay ends a watch once what was counted first must have been sampled.
func (k *kept) afterUnderWay(t testing.TB) context.Context {
	var first time.Time
	return k.atPoint(t, func(p *sample.Point) bool {
		if first.IsZero() && hasFigures(p) {
			first = p.At
		}
		return !first.IsZero() && p.At.Sub(first) > 2*underWay
	})
}

// lastRate is that of the last moment's profile.
func (k *kept) lastRate() int64 {
	last := k.moments[len(k.moments)-1].Processes[0]
	if last.Profile == nil {
		return 0
	}
	return last.Profile.Rate
}

// obeyed starts a program that ends its answers with END, and gives its pid when it
// has obeyed some commands.
func obeyed(t *testing.T, path, commands string) (pid int) {
	t.Helper()
	p := hwtest.StartPiped(t, exec.Command(path))
	for command := range strings.Lines(commands) {
		p.Ask("%s", strings.TrimSpace(command))
	}
	return p.PID
}
