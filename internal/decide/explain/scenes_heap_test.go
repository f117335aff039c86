package explain

import (
	"path"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// heapScenes are runs in which the heap was captured.
var heapScenes = map[string]func() *scene{
	"a leak whose holder was captured": func() *scene {
		s := leaking()
		s.captured(190,
			sample.HeapPath{Parent: -1, Label: "example.org/shop/cache.entries", Type: "?", Held: 901_000, Retained: 188 * mib},
			sample.HeapPath{Parent: 0, Label: "[].body", Type: "[]uint8", Objects: 450_000, Bytes: 170 * mib, Held: 450_000, Retained: 170 * mib, Holder: true,
				Sites: sitesAt(57, 170)})
		s.Heap.Collections = []sample.HeapCollection{{Path: "example.org/shop/cache.entries", Kind: "map", Type: "map[string]*cache.entry", Count: 1,
			Entries: 450_000, Room: 524_288, Bytes: 188 * mib}}
		return s
	},
	"what is allocated everywhere and held by one": func() *scene {
		s := leaking()
		s.captured(190,
			sample.HeapPath{Parent: -1, Label: "example.org/shop/audit.queue", Type: "audit.record", Held: 2_000_000, Retained: 185 * mib, Holder: true,
				Sites: append(sitesAt(57, 40), sitesAt(91, 38)[0], sitesAt(102, 36)[0], sitesAt(233, 35)[0])})
		return s
	},
	"deferred calls that pile up": func() *scene {
		s := leaking()
		s.captured(190,
			sample.HeapPath{Parent: -1, Label: "goroutine example.org/shop/apply.(*Loop).run", Type: "?", Held: 900_000, Retained: 181 * mib},
			sample.HeapPath{Parent: 0, Label: " in its descriptor", Type: "runtime.g", Objects: 1, Bytes: 512, Held: 900_000, Retained: 181 * mib},
			sample.HeapPath{Parent: 1, Label: "._defer", Type: "runtime._defer", Objects: 300_000, Bytes: 14 * mib, Held: 900_000, Retained: 180 * mib, Holder: true,
				Sites: sitesAt(57, 180)})
		s.Heap.Chains = []sample.HeapChain{{Path: "goroutine example.org/shop/apply.(*Loop).run in its descriptor._defer", Type: "runtime._defer", Length: 300_000}}
		return s
	},
	"goroutines that never end, with what they hold": func() *scene {
		s := workScenes["thousands of goroutines that never end"]()
		s.captured(100,
			sample.HeapPath{Parent: -1, Label: "goroutine example.org/shop/push.wait", Type: "?", Held: 80_000, Retained: 88 * mib, Holder: true},
			sample.HeapPath{Parent: -1, Label: "goroutine example.org/shop/push.wait and others", Type: "?", Held: 3, Retained: 2 * mib})
		return s
	},
}

// captured is a capture of the heap at the moment.
func (s *scene) captured(live sample.Bytes, paths ...sample.HeapPath) {
	s.Heap = &sample.HeapCapture{At: s.Moment.At, Process: subject, Reason: sample.HeapKill, LiveBytes: live * mib, Paths: paths}
}

// sitesAt is a line of the cache that allocated so many MiB.
func sitesAt(line int, n sample.Bytes) []sample.HeapSite {
	return []sample.HeapSite{{At: sample.Frame{Func: "example.org/shop/cache.(*Cache).Put", File: "/build/shop/cache/cache.go", Line: line}, Objects: 1000,
		Bytes: n * mib}}
}

func TestAHolderFarFromTheLineIsTold(t *testing.T) {
	a := answer(t, "what is allocated everywhere and held by one")
	h := a.Verdict.Culprit.HeldBy
	if h == nil || h.Path != "example.org/shop/audit.queue" || h.Lines != 4 || h.Retained != 185*mib {
		t.Fatalf("held by %+v", h)
	}
	if why := a.Verdict.Why[0].Text; !strings.Contains(why, "4 lines, so look at what retains the memory") {
		t.Errorf("why %q", why)
	}
}

func TestAChainOfDeferredCallsIsTiedToTheirMarking(t *testing.T) {
	a := answer(t, "deferred calls that pile up")
	if !strings.Contains(a.Verdict.Sentence, "is retained by the deferred calls of a goroutine running example.org/shop/apply.(*Loop).run") {
		t.Error(a.Verdict.Sentence)
	}
	if h := a.Verdict.Culprit.HeldBy; h == nil || h.Chain != 300_000 || !strings.Contains(a.Verdict.Why[len(a.Verdict.Why)-1].Text,
		"a single GC worker must walk") {
		t.Errorf("held by %+v; why %+v", h, a.Verdict.Why)
	}
}

func TestTheMapThatHoldsALeakIsInItsSentence(t *testing.T) {
	a := answer(t, "a leak whose holder was captured")
	if !strings.Contains(a.Verdict.Sentence, "cache.go:57 and is retained by example.org/shop/cache.entries (map, 450,000 entries)") {
		t.Error(a.Verdict.Sentence)
	}
}

func TestGoroutinesAreChargedWithWhatTheyRetain(t *testing.T) {
	a := answer(t, "goroutines that never end, with what they hold")
	if a.Verdict.Class != Goroutines || !strings.Contains(a.Verdict.Sentence, "the goroutines retain 90.0 MiB of heap") {
		t.Error(a.Verdict.Sentence)
	}
}

func TestAHolderOfLittleOfTheHeapIsNotNamedForALineItDoesNotHave(t *testing.T) {
	s := leaking()
	s.captured(190, sample.HeapPath{Parent: -1, Label: "main.small", Held: 10, Retained: 20 * mib, Holder: true})
	a, err := Explain(s.Evidence, nil)
	if err != nil || a.Verdict.Culprit.HeldBy != nil || !strings.Contains(a.Verdict.Sentence, "is still reachable") {
		t.Errorf("%v, %+v", err, a.Verdict)
	}
}

// What the program puts into a variable of the standard library stays there: the line that puts it there is the place to
// change, and that the library appends to a slice is no reason.
func TestWhatALibraryKeepsIsChangedWhereItIsPut(t *testing.T) {
	for label, want := range map[string]string{
		"encoding/json.fieldCache":    "cache.go:57: give json.fieldCache fewer different values, or remove them again where its package allows that",
		"example.org/shop/cache.main": "cache.main: bound the slice, or copy what is still needed into a new one",
	} {
		s := leaking()
		s.Sites[0].Stack = append([]sample.Frame{{Func: "runtime.mallocgc"}, {Func: "runtime.growslice"}}, s.Sites[0].Stack...)
		s.captured(190, sample.HeapPath{Parent: -1, Label: label, Type: "sync.Map", Held: 2_000, Retained: 185 * mib, Holder: true, Sites: sitesAt(57, 180),
			Owner: &sample.HeapOwner{Name: path.Base(label), Type: "*sync.indirect[any,any]", Entries: 1283}, Root: &sample.HeapRoot{Kind: sample.RootGlobal}})
		a, err := Explain(s.Evidence, nil)
		if err != nil || len(a.Fixes) == 0 || a.Fixes[0].Text != want {
			t.Errorf("%s: %+v", label, a.Fixes)
		}
		if said := a.Verdict.Sentence; !strings.Contains(said, path.Base(label)+" (sync.Map, 1,283 entries)") {
			t.Error(said)
		}
	}
}
