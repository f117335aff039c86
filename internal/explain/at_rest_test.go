package explain

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/heapdiff"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
)

// TestTheEndTellsWhatNoCollectionDid: a program that grew, rested without a
// collection and ended. Only where the mark at its end reached most of what had been
// live, and no collection came late, is the end the moment to look at.
func TestTheEndTellsWhatNoCollectionDid(t *testing.T) {
	for name, c := range map[string]struct {
		reached     sample.Bytes
		lastGC      time.Duration
		chargeAtEnd sample.Bytes
		end         bool
	}{
		"all of it is still held":           {105, time.Second, 198, true},
		"it was main's, which has returned": {20, time.Second, 198, false},
		"a collection came late":            {105, 15 * time.Second, 198, false},
		"the charge has fallen":             {105, time.Second, 120, false},
	} {
		path := filepath.Join(t.TempDir(), "rest-1.hwm")
		w, err := recording.Create(path, recording.Meta{At: began, Limit: sample.Some(256 * mib)})
		put := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		put(err)
		put(w.Program(sample.Program{Key: subject, Name: "rest", Go: &sample.GoProgram{Module: "example.org/rest"}}))
		put(w.Event(sample.Event{At: began, Kind: sample.EventStart, Process: subject}))
		put(w.Moment(restingMoment(2*time.Second, sample.MomentMax, 200*mib, c.lastGC, nil)))
		put(w.Moment(restingMoment(20*time.Second, sample.MomentDeath, c.chargeAtEnd*mib, c.lastGC, &sample.Liveness{Bytes: c.reached * mib, Objects: 1})))
		put(w.Close())
		e, err := load(t, path, "")
		put(err)
		if got := e.Moment.Kind == sample.MomentDeath; got != c.end || got && e.process().Live == nil {
			t.Errorf("%s: the moment is of kind %v, with mark %v", name, e.Moment.Kind, e.process().Live)
		}
	}
}

func restingMoment(after time.Duration, kind sample.MomentKind, charge sample.Bytes, lastGC time.Duration, mark *sample.Liveness) *sample.Moment {
	g := &sample.Runtime{GOGC: 100, HeapMarked: 100 * mib, HeapLive: 150 * mib, HeapInUse: 150 * mib, TotalAlloc: 150 * mib, NumGC: 3, LastGC: began.Add(lastGC)}
	p := sample.ProcessMoment{Key: subject, Go: g, Resident: &sample.Resident{Total: charge}, Live: mark}
	if kind == sample.MomentDeath {
		p.ExitCode = sample.Some(0)
	}
	return &sample.Moment{At: began.Add(after), Kind: kind, Cgroup: &sample.Cgroup{Usage: charge, Limit: sample.Some(256 * mib)}, Processes: []sample.ProcessMoment{p}}
}

// profileOfStacks has one site for each stack, of which so many objects of a MiB
// were allocated; the rate is every allocation.
func profileOfStacks(sizes []sample.Bytes, allocs []uint64, stacks ...[]string) heapdiff.Profile {
	p := heapdiff.Profile{HeapProfile: &sample.HeapProfile{Rate: 1}}
	for i, stack := range stacks {
		s := sample.Site{Size: sizes[i]}
		for j, name := range stack {
			s.Stack = append(s.Stack, sample.Location{Address: uint64(j + 1), Frames: []sample.Frame{{Func: name, File: "f.go", Line: 7}}})
		}
		p.Sites = append(p.Sites, s)
		p.Counts = append(p.Counts, sample.BucketCounts{NowAllocs: allocs[i], PubAllocs: allocs[i]})
	}
	return p
}

func TestHalfOfAllIsTheNearestLineAboveIt(t *testing.T) {
	sizes := []sample.Bytes{mib, mib, mib}
	p := profileOfStacks(sizes, []uint64{30, 25, 45},
		[]string{"runtime.mallocgc", "example.org/a.leaf", "example.org/a.hash", "example.org/a.hash", "main.main"},
		[]string{"runtime.mallocgc", "example.org/a.hash", "main.main"},
		[]string{"runtime.mallocgc", "encoding/json.Unmarshal", "example.org/a.read", "main.main"})
	if got := halfOf(p, "example.org/a"); got == nil || got.Function != "example.org/a.hash" || got.Bytes != 55*mib || got.Share != 0.55 {
		t.Errorf("half of all: %+v, want hash with what it calls, once", got)
	}
	if got := halfOf(profileOfStacks(sizes[:1], []uint64{3}, []string{"runtime.mallocgc", "encoding/json.Unmarshal"}), "example.org/a"); got != nil {
		t.Errorf("half of all: %+v, where no code of its own allocated", got)
	}
}

func TestTheLargestObjectOfALine(t *testing.T) {
	p := profileOfStacks([]sample.Bytes{mib, 64 * mib, 32 * mib}, []uint64{9, 2, 1}, []string{"io.ReadAll"}, []string{"io.ReadAll"}, []string{"io.ReadAll"})
	if size, n := largest(heapdiff.Holder{Sites: []int{0, 1, 2}}, p, heapdiff.Now); size != 64*mib || n != 2 {
		t.Errorf("%d of %d bytes, want 2 of 64 MiB", n, size)
	}
}

func TestRunsDifferByWhatTheyAllocated(t *testing.T) {
	side := func(name string, lines ...Allocator) *Side {
		s := newScene()
		s.Evidence.Allocators, s.Evidence.Rate = lines, 512<<10
		return &Side{Evidence: s.Evidence, View: "none", path: name}
	}
	parse := Allocator{Function: "main.parse", File: "/a/parse.go", Line: 9, Bytes: 600 * mib}
	hash := Allocator{Function: "main.hash", File: "/a/hash.go", Line: 18, Bytes: 900 * mib}
	moved := parse
	moved.File, moved.Bytes = "/b/parse.go", 620*mib // another folder, and chance
	d := Compare(side("a.hwm", parse), side("b.hwm", moved, hash))
	if len(d.AllocatedBy) != 1 || d.AllocatedBy[0].Function != "main.hash" || d.AllocatedBy[0].Change != int64(900*mib) {
		t.Errorf("allocated by %+v, want the new line alone", d.AllocatedBy)
	}
	if d.Allocated.Change != int64(920*mib) {
		t.Errorf("allocated in all: %+v", d.Allocated)
	}
	if same := Compare(side("a.hwm", parse), side("a.hwm", moved, hash)); len(same.AllocatedBy) != 0 {
		t.Errorf("two moments of one run differ by %+v", same.AllocatedBy)
	}
}
