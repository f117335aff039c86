package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A cache filled up during most of the run, and has had its bound since: the live heap alone does not tell, as the last GCs are few.
// A cache whose program came to rest may grow on, and so may one that never had fewer entries, and what lies in another place.
func TestACacheWithItsBoundOfEntriesIsFull(t *testing.T) {
	for name, c := range map[string]struct {
		entries []uint64 // at 2, 9, 16, 22 and 29 s
		rests   bool
		grows   bool   // what the entries retain
		other   string // what else grows: "", "the heap", or "the line": what it allocates is held elsewhere
		want    bool
	}{
		"filled, and full":       {[]uint64{2000, 12_000, 21_000, 30_000, 30_000}, false, false, "", true},
		"still fills":            {[]uint64{2000, 9000, 16_000, 22_000, 29_000}, false, true, "", false},
		"the program is at rest": {[]uint64{2000, 12_000, 21_000, 30_000, 30_000}, true, false, "", false},
		"shards, from the start": {[]uint64{256, 256, 256, 256, 256}, false, true, "", false},
		"all tenants are there":  {[]uint64{100, 200, 300, 300, 300}, false, true, "", false},
		"another place grows":    {[]uint64{2000, 12_000, 21_000, 30_000, 30_000}, false, false, "the heap", false},
		"the line's is another":  {[]uint64{2000, 12_000, 21_000, 30_000, 30_000}, false, false, "the line", false},
		"few":                    {[]uint64{2, 5, 9, 12, 12}, false, false, "", false},
	} {
		s := newScene()
		s.heap(60, 60, 70)
		s.charge()
		s.cycles(20, 10, 20, 30, 40, 50, 60)
		s.site("example.org/shop/cache.Put", "/build/shop/cache/cache.go", 31, 50, 0.4)
		for i, at := range []float64{2, 9, 16, 22, 29} {
			held := min(at, 22)
			if c.grows {
				held = at
			}
			live := 2 * held
			if c.other == "the heap" {
				live += 3 * at
			}
			by := sample.Frame{Func: s.Sites[0].Function, File: s.Sites[0].File, Line: s.Sites[0].Line}
			if c.other == "the line" {
				by.Line++
			}
			s.Captures = append(s.Captures, Captured{At: at, InUse: bytesOf(live), Holders: []CapturedHolder{
				{Entries: c.entries[i], Retained: bytesOf(2 * held), Sites: []sample.HeapSite{{At: by, Bytes: bytesOf(held)}}}}})
			s.stand(at, 4*at, 0, 0)
			allocated := at
			if c.rests {
				allocated = min(at, 22)
			}
			s.Sites[0].Course[i].Allocated = bytesOf(20 * allocated)
		}
		k := newCase(s.Evidence)
		if got := k.isHolderFull(); got != c.want {
			t.Errorf("%s: full is %v", name, got)
		}
		if of := weigh(k.features, leakEvidence).against(); strings.Contains(strings.Join(of, " "), "it is full") != c.want {
			t.Errorf("%s: against a leak: %v", name, of)
		}
		if got := k.trend().State; got == TrendGrowing && c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
