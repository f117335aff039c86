package heapdiff

import (
	"math"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

const rate = 512 << 10

// lineAt is a site of 1 MiB objects allocated by a line of the program's own code.
func lineAt(function, file string, number int) sample.Site {
	return sample.Site{Size: sample.MiB, Stack: []sample.Location{{Frames: []sample.Frame{{Func: function, File: file, Line: number}}}}}
}

func counts(pairs ...uint64) (out []sample.BucketCounts) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, sample.BucketCounts{PubAllocs: pairs[i], PubFrees: pairs[i+1], NowAllocs: pairs[i], NowFrees: pairs[i+1]})
	}
	return out
}

func profileOf(sites []sample.Site, pairs ...uint64) Profile {
	return Profile{sites, &sample.HeapProfile{Rate: rate, Counts: counts(pairs...)}}
}

func TestASteadyCacheDoesNotHideWhatGrewOnItsLine(t *testing.T) {
	sites := []sample.Site{lineAt("main.fill", "/a/cache.go", 7), lineAt("main.leak", "/a/leak.go", 9), lineAt("main.swap", "/a/swap.go", 3)}
	got := Changes(profileOf(sites[:2], 400, 0, 0, 0), profileOf(sites, 420, 0, 30, 0, 10, 0), "m")
	if len(got) != 3 || got[0].Function != "main.leak" || got[1].Function != "main.fill" {
		t.Fatalf("%+v", got)
	}
	one := Error(20, sample.MiB, rate)
	if c := got[1]; c.Error != one || !c.Certain() || c.After.Bytes-c.Before.Bytes != c.Bytes() {
		t.Errorf("20 more of 400 objects: %+v, want the error %.0f of 20", c, one)
	}
	back := Changes(profileOf(sites, 420, 0, 30, 0, 10, 0), profileOf(sites[:2], 400, 0, 0, 0), "m")
	if back[1].Bytes() != -got[1].Bytes() || back[1].Error != got[1].Error {
		t.Errorf("the other way round: %+v", back[1])
	}
}

func TestWhatCameAndWentIsNoChange(t *testing.T) {
	sites := []sample.Site{lineAt("main.work", "/a/w.go", 1), lineAt("main.idle", "/a/w.go", 2)}
	got := Changes(profileOf(sites, 100, 90, 5, 0), profileOf(sites, 900, 891, 5, 0), "m")
	for _, c := range got {
		switch c.Function {
		case "main.work":
			// 10 objects were held and 9 are: at most 19 differ, however many came and went.
			if c.Certain() || c.Error != Error(19, sample.MiB, rate) {
				t.Errorf("%+v", c)
			}
		case "main.idle":
			if c.Bytes() != 0 || c.Error != 0 || c.Certain() {
				t.Errorf("%+v", c)
			}
		}
	}
}

func TestTwoBuildsAreComparedByLineAndWhereThatMovedByFunction(t *testing.T) {
	before := profileOf([]sample.Site{lineAt("main.a", "/one/a.go", 10), lineAt("main.b", "/one/b.go", 20), lineAt("main.c", "/one/c.go", 30),
		lineAt("main.c", "/one/c.go", 31)}, 10, 0, 20, 0, 5, 0, 5, 0)
	after := profileOf([]sample.Site{lineAt("main.a", "/two/a.go", 10), lineAt("main.b", "/two/b.go", 25), lineAt("main.c", "/two/c.go", 40),
		lineAt("main.d", "/two/d.go", 1)}, 40, 0, 20, 0, 5, 0, 7, 0)
	find := func(list []Change, function string, number int) *Change {
		for i := range list {
			if list[i].Function == function && list[i].Line == number {
				return &list[i]
			}
		}
		return nil
	}
	got := Across(before, after, "m", "m", false)
	if c := find(got, "main.a", 10); c == nil || c.Before.Objects == 0 || c.After.Objects == 0 || !c.Certain() ||
		math.Abs(c.Error-math.Hypot(Error(10, sample.MiB, rate), Error(40, sample.MiB, rate))) > 1 {
		t.Errorf("a line of both: %+v", c)
	}
	if c := find(got, "main.b", 25); c == nil || c.Bytes() != 0 || c.File != "/two/b.go" || c.Certain() {
		t.Errorf("a line that moved: %+v", c)
	}
	if c := find(got, "main.c", 40); c == nil || c.Before.Bytes != 0 {
		t.Errorf("one of two lines is not told: %+v", c)
	}
	if c := find(got, "main.d", 1); c == nil || c.Before.Bytes != 0 {
		t.Errorf("a new line: %+v", c)
	}
	if c := find(Across(before, after, "m", "m", true), "main.b", 25); c == nil || c.Before.Bytes != 0 {
		t.Errorf("of one build, another line is another line: %+v", c)
	}
}

func TestNothingIsComparedWithSomething(t *testing.T) {
	sites := []sample.Site{lineAt("main.a", "/a.go", 1)}
	for name, got := range map[string][]Change{
		"one process":   Changes(Profile{}, profileOf(sites, 9, 0), "m"),
		"two processes": Across(Profile{HeapProfile: &sample.HeapProfile{}}, profileOf(sites, 9, 0), "", "m", true),
	} {
		if len(got) != 1 || got[0].Before.Bytes != 0 || got[0].After.Objects == 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
