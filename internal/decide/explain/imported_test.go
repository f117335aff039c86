package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// imported is evidence without a figure of the kernel's: n heap profiles, ten
// seconds apart, whose one line holds what held says.
func imported(kind string, n int, held func(i int) sample.Bytes) *Evidence {
	key := sample.ProcessKey{Start: 1}
	start := time.Unix(1_700_000_000, 0)
	e := &Evidence{Recording: "shop-1.hwm", Imported: kind, Start: start, End: start.Add(time.Duration(10*(n-1)) * time.Second), At: "peak", Subject: key,
		Programs: []sample.Program{{Key: key, Name: "shop", Go: &sample.GoProgram{}, HeapProfile: sample.HeapProfileOn}},
		Moment:   sample.Moment{At: start.Add(time.Duration(10*(n-1)) * time.Second), Kind: sample.MomentMax, Processes: []sample.ProcessMoment{{Key: key}}},
		SiteView: "published", Rate: 524288, Alone: n == 1}
	for i := range n {
		e.Held = append(e.Held, Held{At: float64(10 * i), InUse: held(i), Alloc: sample.Bytes(i+1) * 100 * sample.MiB})
	}
	last := held(n - 1)
	e.Sites = []Site{{Place: sample.Place{Function: "main.remember", File: "/src/shop/main.go", Line: 27}, Own: true, Bytes: last,
		Growth:    int64(last) - int64(held(0)),
		Allocated: last, Samples: 400, Objects: 4000}}
	return e
}

func TestImportedEvidenceSaysNoMoreThanItKnows(t *testing.T) {
	grows := func(i int) sample.Bytes { return sample.Bytes(10+5*i) * sample.MiB }
	stays := func(int) sample.Bytes { return 40 * sample.MiB }
	core := imported("core", 1, stays)
	core.At = "last"
	core.Held = nil
	core.Moment.Processes[0].Go = &sample.Runtime{GOGC: 100, MemoryLimit: sample.NoMemoryLimit, HeapLive: 50 * sample.MiB, HeapMarked: 50 * sample.MiB,
		TotalAlloc: 60 * sample.MiB, Goroutines: 1, NumGC: 3}
	core.Moment.Processes[0].Live = &sample.Liveness{Bytes: 50 * sample.MiB, Objects: 4000}
	core.Moment.Processes[0].Residency = &sample.Residency{Anon: 60 * sample.MiB, GoKnown: true, GoObjects: 60 * sample.MiB}
	for name, c := range map[string]struct {
		e     *Evidence
		class Class
		says  string
	}{
		"profiles that grow":   {imported("profiles", 12, grows), Leak, "shop/main.go:27"},
		"too few profiles":     {imported("profiles", 4, grows), Inconclusive, ""},
		"profiles that stay":   {imported("profiles", 12, stays), Inconclusive, ""},
		"one profile":          {imported("profiles", 1, stays), Inconclusive, ""},
		"a core":               {core, Inconclusive, "largest part"},
		"an address that grew": {imported("url", 30, grows), Leak, "shop/main.go:27"},
	} {
		a, err := Explain(c.e, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Verdict.Class != c.class || !strings.Contains(a.Verdict.Sentence, c.says) {
			t.Errorf("%s: %s, %q", name, a.Verdict.Class, a.Verdict.Sentence)
		}
		if a.Outcome.State != Seen || len(a.RuledOut) > 0 || c.e.Imported != "core" && (a.Ledger.TotalBytes != 0 || len(a.Ledger.Rows) > 0) {
			t.Errorf("%s: state %s, ruled out %v, ledger %+v", name, a.Outcome.State, a.RuledOut, a.Ledger)
		}
		for _, f := range a.Evidence {
			if strings.Contains(f.Text, "0 at the least") || strings.Contains(f.Text, "0 collections") {
				t.Errorf("%s: what was not seen is said to be nothing: %s", name, f.Text)
			}
		}
	}
}
