package explain

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// builtInACall is a run whose rows the frame of report.Build retained when the heap was captured, without goroutines.
func builtInACall() *scene {
	s := newScene()
	s.captured(100,
		sample.HeapPath{Parent: -1, Label: "goroutine main.main", Root: &sample.HeapRoot{Kind: sample.RootGoroutine, Func: "main.main", First: 1}, Objects: 1,
			Retained: 100 * mib},
		sample.HeapPath{Parent: 0, Label: " in shop/report.Build", Objects: 1, Retained: 99 * mib},
		sample.HeapPath{Parent: 1, Label: ".rows", Objects: 64, Retained: 99 * mib, Holder: true})
	s.p.Goroutines = nil
	return s
}

// What the frame of a call retained when the heap was captured may be garbage once the call has returned. Where main has
// returned, too, or its goroutine ran, so that its stack is not known, nothing tells.
func TestAHolderThatReturnedIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		stacks [][]string
		want   float64
	}{
		"the call is in flight": {[][]string{{"shop/report.Build", "main.main"}}, 0},
		"the call has returned": {[][]string{{"shop/report.Write", "main.main"}}, 1},
		"main has returned":     {[][]string{{"shop/report.Serve"}}, math.NaN()},
	} {
		s := builtInACall()
		for _, stack := range c.stacks {
			g := sample.GoroutineGroup{State: "waiting", Count: 1}
			for _, f := range stack {
				g.Where = append(g.Where, sample.Location{Frames: []sample.Frame{{Func: f}}})
			}
			s.p.Goroutines = append(s.p.Goroutines, g)
		}
		k := newCase(s.Evidence)
		if got := k.holderReturned(); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Where the main goroutine ran at the moment, the last look before it tells, if that came after the capture.
func TestAHolderThatReturnedIsKnownFromTheLookBefore(t *testing.T) {
	for name, c := range map[string]struct {
		at     float64
		inside map[string]int
		want   float64
	}{
		"it had returned":         {29.5, map[string]int{"main.main": 1}, 1},
		"it had not":              {29.5, map[string]int{"main.main": 1, "shop/report.Build": 1}, 0},
		"main ran then, too":      {29.5, nil, math.NaN()},
		"a look from long before": {5, map[string]int{"main.main": 1}, math.NaN()},
	} {
		s := builtInACall()
		s.Heap.At = began.Add(20 * time.Second)
		k := newCase(s.Evidence)
		k.site = &Site{Course: []SiteSnapshot{{At: c.at, Goroutines: true, Inside: c.inside}}}
		if got := k.holderReturned(); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The stacks of many goroutines are calls that gather; those of a few are loops.
func TestTheStacksOfManyGoroutinesAreCalls(t *testing.T) {
	for n, want := range map[uint64]bool{1917: true, 3: false} {
		if got := (&HeldBy{Title: "the stacks of main.read", goroutines: n}).isCalls(); got != want {
			t.Errorf("%d goroutines: %v", n, got)
		}
	}
}

// A parent context keeps each child until that is cancelled: there are no entries to delete.
func TestTheFixOfContextsIsToCancelThem(t *testing.T) {
	for title, want := range map[string]string{
		"a local variable of main.main (context.cancelCtx, 7,263 entries)": "cancel function", "main.store.items": "delete entries",
	} {
		if got := (&HeldBy{Title: title, Entries: 7263, Kind: "map"}).release(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", title, got)
		}
	}
}

// The entries of an early capture are of that time, which the sentence says.
func TestAnEarlyCaptureIsToldAsOfItsTime(t *testing.T) {
	for at, want := range map[time.Duration]bool{4 * time.Second: true, 28 * time.Second: false} {
		s := leaking()
		s.retained("")
		s.Heap.At = began.Add(at)
		a := answerOf(t, s)
		said := strings.Contains(a.Verdict.Sentence, "as of 4.0 s after start")
		if said != want || !strings.Contains(a.Verdict.Sentence, "is retained by main.store.items") {
			t.Errorf("captured after %v: %s", at, a.Verdict.Sentence)
		}
	}
}

// Values behind the entries of one map have that map as their holder, though a path leads to each of them by another field.
func TestManyPlacesAreHeldByTheMapWithAsManyEntries(t *testing.T) {
	for name, c := range map[string]struct {
		count, entries uint64
		bytes          float64
		want           string
	}{
		"as many": {1, 10_136, 120, "(*tree).children"},
		"fewer":   {1, 5_000, 120, "(*query).Columns"},
		"smaller": {1, 10_136, 20, "(*query).Columns"},
		"several": {9, 10_136, 120, "(*query).Columns"},
	} {
		s := newScene()
		s.captured(130,
			sample.HeapPath{Parent: -1, Label: "several places: tree.node.val.Columns", Objects: 10_135, Retained: 100 * mib, Holder: true,
				Owner: &sample.HeapOwner{Name: "(*query).Columns", Type: "[]float64", Count: 10_135}})
		s.Heap.Collections = []sample.HeapCollection{{Kind: "map", Name: "(*tree).children", Type: "map[int]node",
			Count: c.count, Entries: c.entries, Bytes: bytesOf(c.bytes)}}
		if h := newCase(s.Evidence).holderAt(0); !strings.HasPrefix(h.Title, c.want) {
			t.Errorf("%s: %s", name, h.Title)
		}
	}
}
