package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Where a run was too short to tell how it goes on, the answer says how long one would have to be, longer than this one, and
// its command reads the live heap more often.
func TestAnAnswerThatKnowsTooLittleSaysWhatWouldBeEnough(t *testing.T) {
	c := newCase(scenes["steady and small"]().Evidence)
	c.outcome.State, c.outcome.Elapsed, c.outcome.Kernel = Exited, 12, false
	c.rise = rise{n: 2, all: 2, from: 2, to: 3, first: 1e7, last: 4e7, grown: 3e7}
	for i := range c.Ticks.At {
		c.Ticks.Usage[i] = float64(10+5*i) * float64(mib)
	}
	trend := c.trend()
	if trend.State != NotEnoughData || trend.Needs != "a run of 30 s or longer, or --heap every=2s" {
		t.Errorf("%s: %q", trend.State, trend.Needs)
	}
	if got := trend.open(); !strings.Contains(got, ". Enough would be a run of 30 s") {
		t.Errorf("%q", got)
	}
	if got := c.nextCommands(); len(got) != 1 || !strings.Contains(got[0], "--heap=every=2s") {
		t.Errorf("%q", got)
	}
	c.outcome.State = Running // it is still there: nobody has to start it again
	if got := c.nextCommands(); len(got) != 1 || got[0] != "highwater watch 4711 --for 24s --heap=every=2s" {
		t.Errorf("%q", got)
	}
	c.Sites, c.Programs[0].HeapProfile = nil, sample.HeapProfileOff // of which no line is known
	if got := c.nextCommands(); len(got) != 1 || got[0] != "highwater watch 4711 --for 24s --enable-heap-profile --heap=every=2s" {
		t.Errorf("without a heap profile: %q", got)
	}
}

// Whether it gets worse is told of what the verdict is about: a live heap that rests says nothing of a leak in C.
func TestTheTrendIsOfWhatTheVerdictIsAbout(t *testing.T) {
	for name, want := range map[string]TrendState{
		"cgo leak":                          TrendGrowing,
		"tmpfs":                             TrendGrowing,
		"native memory that comes and goes": ComesAndGoes,
		"steady and small":                  TrendFlat,
	} {
		if a := explained(t, scenes[name]()); a.Trend.State != want || (a.Trend.Of == ofLiveHeap) != (want == TrendFlat) {
			t.Errorf("%s: %s of %s", name, a.Trend.State, a.Trend.Of)
		}
	}
}

// Memory that a cache maps up to its bound is no native leak, wherever the peak lies; what rises to the end may be one.
func TestNativeMemoryThatCameToItsHeightIsNoLeak(t *testing.T) {
	for until, rests := range map[float64]bool{10: true, 30: false} {
		c := newCase(scenes["steady and small"]().Evidence)
		c.pressed, c.limit, c.outcome.Kernel, c.outcome.Elapsed = false, 0, false, 30
		c.Ticks.At, c.Ticks.Native = nil, nil
		for at := 0.0; at <= 30; at++ {
			c.Ticks.At, c.Ticks.Native = append(c.Ticks.At, at), append(c.Ticks.Native, float64(mib)*(4+3*min(at, until)))
		}
		if got := c.nativeRests(); got != rests {
			t.Errorf("until %v s: %v", until, got)
		}
		if _, rose := c.nativeRose(); rests && rose {
			t.Error("what rests rose")
		}
	}
}

// Where goroutines of a library wait in it, the program's own go statement is to blame.
func TestGoroutinesThatWaitInALibraryAreBlamedOnTheGoStatement(t *testing.T) {
	for module, line := range map[string]int{"example.org/shop": 5, "example.org/other": 621} {
		s := workScenes["thousands of goroutines that never end"]()
		s.p.Goroutines = nil
		s.waiting("example.net/cache.(*Cache).Start", "/mod/cache/cache.go", 621, 9000, "select", 35)
		c := newCase(s.Evidence)
		p, _ := c.risenGoroutines()
		c.measurePile(&p)
		if module != c.module() {
			p.made.Func = "example.net/cache.New"
			p.made.File, p.made.Line = "/mod/cache/cache.go", 88
		}
		if f := goroutineLeakFound(c, p, nil); f.Culprit.Line != line {
			t.Errorf("%s: line %d, want %d (made by %s in %s)", module, f.Culprit.Line, line, p.made.Func, c.module())
		}
	}
}

// Of garbage over the limit a line is named that made a tenth of it or more; 1 MiB of 240 tells of nobody.
func TestALineOfLittleGarbageIsNotNamed(t *testing.T) {
	for part, named := range map[float64]bool{0.01: false, 0.5: true} {
		c := newCase(scenes["burst in the first rise"]().Evidence)
		spare := float64(c.spare())
		c.Allocators = []Allocator{{Place: sample.Place{Function: "net/http.(*Transport).dialConn", File: "transport.go", Line: 1992},
			Garbage: sample.Bytes(part * spare)}}
		if f := gcUnawareFound(c, nil); (f.Culprit.Line == 1992) != named {
			t.Errorf("%v of %v: %+v", part, size(c.spare()), f.Culprit)
		}
	}
}
