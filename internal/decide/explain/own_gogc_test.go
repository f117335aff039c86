package explain

import (
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Garbage that a program's own GOGC let fill the limit is the cause, whatever the live heap would have become: with Go's default twice
// the live heap would have fitted.
func TestGarbageOfAHighGOGCIsTheCauseWhileTheLiveHeapGrows(t *testing.T) {
	for name, k := range map[string]struct {
		gogc  int32
		live  float64
		known bool
	}{
		"GOGC=450":                             {450, 60, true},
		"GOGC=100":                             {100, 60, false},
		"and twice the live heap does not fit": {450, 120, false},
	} {
		s := newScene()
		s.heap(k.live, k.live, 243)
		s.killed()
		s.p.Go.GOGC, s.p.Go.HeapGoal = k.gogc, 330*sample.MiB
		c := newCase(s.Evidence)
		c.rise = rise{n: 8, first: float64(mib), last: k.live * float64(mib), grown: (k.live - 1) * float64(mib), from: 5, to: 30, low: 1, late: 1, mono: true}
		if why, _ := c.garbageUnknown(); (why == "") != k.known {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// A cache comes to its bound, if it has one: what it retains is not surely a leak before a minute, and not what a job is for.
func TestWhatACacheRetainsIsNotSurelyALeak(t *testing.T) {
	for title, cache := range map[string]bool{
		"(*lru.Cache).cache (map[any]*list.Element, 2,047 entries)":          true,
		"(*Filter).recent (*lru.Cache[string,*dedupe.sighting])":             true,
		"(*Store).pages (*ristretto.Cache[uint64,[]byte])":                   true,
		"(*store).cache (map[string]*session, 7,458 entries)":                false,
		"main.cache (map[string]*session, 7,458 entries)":                    false,
		"a local variable of main.main (map[string]*session, 7,458 entries)": false,
	} {
		if got := cachePackage.MatchString(title); got != cache {
			t.Errorf("%s: %v", title, got)
		}
	}
	for owner, want := range map[string]Confidence{"*lru.Cache[string,*page]": Medium, "map[string]*page": High} {
		s := scenes["leak"]()
		s.retained("")
		s.Heap.Paths[1].Owner = &sample.HeapOwner{Name: "(*shop).pages", Type: owner, Entries: 7000}
		w := weighed{score: speakScore.v() + highMargin.v() + 1}
		c := newCase(s.Evidence)
		c.rise.to = min(c.rise.to, c.rise.from+30)
		f := leakFound(c, w, nil)
		if doubt := slices.Contains(f.Because, doubtFirstRise); f.Confidence != want || doubt != (want == Medium) {
			t.Errorf("%s: %s, %v", owner, f.Confidence, f.Because)
		}
	}
}
