package explain

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// The first users of the answers were told things that were false or that contradicted each other. Each is a
// row, A1 to A12, and has a test of its name: A8 stands in internal/show/report, A10 in internal/show/top, A11 in
// internal/cli and A12 in internal/show/web, where those answers are shown.

func explained(t *testing.T, s *scene) *Answer {
	t.Helper()
	a, err := Explain(s.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkAnswer(t, a)
	return a
}

// settings are the fixes that are no change of the code.
func settings(a *Answer) (list []Fix) {
	for _, f := range a.Fixes {
		if f.Kind != "code" {
			list = append(list, f)
		}
	}
	return list
}

// A program that was killed in its first rise at the limit was told a GOMEMLIMIT under which it survives, and
// was killed with it 15 of 15 times.
func TestRowA1NoSettingIsAFixOfAFirstRise(t *testing.T) {
	for _, name := range []string{"a leak that was killed at once", "burst in the first rise", "an upload killed in its first rise",
		"garbage, killed before the second full collection"} {
		a := explained(t, scenes[name]())
		for _, f := range settings(a) {
			if f.State == "predicted" || strings.Contains(f.Outlook, "survives") {
				t.Errorf("%s: %s: %s", name, f.Text, f.Outlook)
			}
		}
		if a.NotPredicted == "" && len(a.WontHelp) == 0 {
			t.Errorf("%s: nothing says why no setting is a fix", name)
		}
	}
}

// A watched leak between two collections was "Healthy", though captures of the heap had seen it grow in
// five steps.
func TestRowA2CapturesAreReadingsOfAWatchedLeak(t *testing.T) {
	watched := func(captures ...float64) *scene {
		s := newScene()
		s.Watched = true
		s.heap(200, 235, 240)
		s.noMark()
		s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
		s.charge()
		s.stopped()
		s.early(30, 195)
		for i, live := range captures {
			s.Captures = append(s.Captures, Captured{At: 4 + 6*float64(i), InUse: bytesOf(live),
				Lines: []sample.HeapSite{{At: sample.Frame{Func: "main.remember", Line: 31}, Bytes: bytesOf(live - 2)}}})
		}
		site := s.site("main.remember", "/build/leak/main.go", 31, 198, 0)
		site.Stack = []sample.Frame{{Func: "runtime.makeslice"}, {Func: site.Function, File: site.File, Line: site.Line}}
		for i := range 5 {
			site.Course = append(site.Course, SiteSnapshot{At: 4 + 6*float64(i), Bytes: bytesOf(190 + 8*float64(i)), Allocated: bytesOf(190 + 8*float64(i)),
				Goroutines: true, Calls: []int{0}})
		}
		return s
	}
	a := explained(t, watched(202.8, 210.8, 218.7, 226.7, 234.8))
	if a.Verdict.Class == Healthy || !strings.Contains(a.Verdict.Sentence, "leak/main.go:31") || a.Trend.State != TrendGrowing || a.Trend.Readings < 5 {
		t.Errorf("five captures that rise: %s, trend %s of %d readings: %s", a.Verdict.Class, a.Trend.State, a.Trend.Readings, a.Verdict.Sentence)
	}
	a = explained(t, watched())
	if a.Verdict.Class == Healthy || a.Trend.State == TrendFlat {
		t.Errorf("one collection: %s, %s: %s", a.Verdict.Class, a.Trend.State, a.Verdict.Sentence)
	}
}

// A job that was killed in its first second while it loaded was "a leak".
func TestRowA3AProgramThatWasKilledWhileItLoadedIsNoLeak(t *testing.T) {
	s := newScene()
	s.Moment.At = s.Start.Add(1200 * time.Millisecond)
	s.heap(170, 175, 180)
	s.killed()
	s.ramp(8, 20, 45, 90, 130, 170)
	s.work(0.95, 0.2, 200)
	s.site("main.load", "/build/batch/main.go", 20, 160, 0)
	s.running(1)
	for i := range 6 {
		s.Sites[0].Course = append(s.Sites[0].Course, SiteSnapshot{At: 0.2 * float64(i), Bytes: bytesOf(25 * float64(i)), Allocated: bytesOf(30 * float64(i)),
			Unseen: 1, Calls: []int{0}, Goroutines: true})
	}
	a := explained(t, s)
	if a.Verdict.Class == Leak || !strings.Contains(a.Verdict.Sentence, "while its memory rose for the first time") {
		t.Errorf("%s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
}

// "A limit of 384 MiB: lives" was said of a program that needs 451 MiB: its heap may grow to the goal.
func TestRowA4APredictedLimitHoldsTheHeapThatTheGoalAllows(t *testing.T) {
	s := scenes["garbage over the limit"]()
	a := explained(t, s)
	found := false
	for _, f := range a.Fixes {
		if f.Kind != "limit" {
			continue
		}
		found = true
		if need := s.p.Go.HeapGoal + 5*mib; f.State == "predicted" && f.Limit < need {
			t.Errorf("%s, while the next GC is due at %s", f.Text, size(s.p.Go.HeapGoal))
		}
		if f.State != "predicted" && !strings.HasPrefix(f.Text, "a limit of at least") {
			t.Errorf("what is not predicted is said as if it were: %s", f.Text)
		}
	}
	if !found {
		t.Errorf("no limit is proposed: %+v %s", a.Fixes, a.NotPredicted)
	}
}

// Buffers that are reserved and never written were said to reach the limit "in 11 s", and a GOMEMLIMIT to be
// "still killed", in a run that needed 18 of 128 MiB.
func TestRowA5WhatIsNeverWrittenReachesNoLimit(t *testing.T) {
	a := explained(t, scenes["buffers that were reserved and never used"]())
	if a.Verdict.Class == Leak || a.Run.Growth != nil && a.Run.Growth.LimitFrom != nil && strings.Contains(a.Verdict.Sentence, "reaches the limit") {
		t.Errorf("%s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
	for _, f := range append(a.Fixes, Fix{Outlook: a.NotPredicted}) {
		if strings.Contains(f.Outlook, "killed") {
			t.Errorf("%s: %s", f.Text, f.Outlook)
		}
	}
}

// A program that panicked was "a leak, or something that was still being filled".
func TestRowA6APanicComesFirst(t *testing.T) {
	s := newScene()
	s.heap(40, 45, 52)
	s.cycles(10, 8, 16, 24, 32, 40)
	s.ended(2)
	s.site("main.fill", "/build/crash/main.go", 8, 40, 0)
	s.Crash = &Crash{Kind: panicked, Reason: "assignment to entry in nil map", Place: sample.Place{Function: "main.add", File: "main.go", Line: 10}}
	a := explained(t, s)
	if text := a.Verdict.Detail + " " + a.Verdict.Sentence; a.Verdict.Class == Leak ||
		!strings.Contains(text, "panicked (assignment to entry in nil map) at main.go:10") {
		t.Errorf("%s: %s", a.Verdict.Class, text)
	}
	if len(settings(a)) > 0 {
		t.Errorf("fixes of a panic: %+v", a.Fixes)
	}
}

// The live heap was 197.7 MiB and its lines 216.0, and more was "still reachable" than the limit allows.
func TestRowA7FiguresThatAreComparedAgree(t *testing.T) {
	for name, make := range scenes {
		a := explained(t, make())
		sum := int64(a.Ledger.UnexplainedBytes)
		for _, r := range a.Ledger.Rows {
			sum += int64(r.Bytes)
		}
		if sum != int64(a.Ledger.TotalBytes) {
			t.Errorf("%s: rows sum to %d of %d", name, sum, a.Ledger.TotalBytes)
		}
		parts := map[string]sample.Bytes{}
		for _, p := range a.Peak {
			parts[p.Row] += p.Bytes
		}
		for _, r := range a.Ledger.Rows {
			if got := parts[r.Name]; got != r.Bytes {
				t.Errorf("%s: the lines of %s sum to %s of %s", name, r.Name, size(got), size(r.Bytes))
			}
		}
	}
}

// A holder was "net/http.defaultServeMux.tree.emptyChild.handler (captured).?[].data".
func TestRowA9AHolderIsNamedAsItsOwnerWould(t *testing.T) {
	s := leaking()
	s.captured(190,
		sample.HeapPath{Parent: -1, Label: "net/http.defaultServeMux", Type: "?", Retained: 188 * mib, Root: &sample.HeapRoot{Kind: sample.RootGlobal}},
		sample.HeapPath{Parent: 0, Label: ".tree.emptyChild.handler (captured).?[].data", Type: "[]uint8", Retained: 180 * mib, Holder: true, Sites: sitesAt(57, 170),
			Owner: &sample.HeapOwner{Name: "(*store).sessions", Type: "map[string]*session", Kind: "map", Entries: 7465}})
	a := explained(t, s)
	for _, text := range append([]string{a.Verdict.Sentence, a.Fixes[0].Text}, a.Verdict.Known...) {
		if strings.Contains(text, "(captured)") || strings.Contains(text, ".?") {
			t.Errorf("a path for a name: %s", text)
		}
	}
	if !strings.Contains(a.Verdict.Sentence, "(*store).sessions (map[string]*session, 7,465 entries)") {
		t.Error(a.Verdict.Sentence)
	}
}

// One command gives the same verdict to whoever asks, and what was run for real comes before any model.
func TestRowA1WhatWasRunTakesThePlaceOfTheModel(t *testing.T) {
	s := scenes["garbage over the limit"]()
	fix := explained(t, s).Fixes[0]
	s.Tried = []recording.Tried{{At: time.Unix(5, 0), Kind: "base", Runs: 3, Lost: 3, Why: "killed 3 of 3"},
		{At: time.Unix(5, 0), Fix: fix.Text, Kind: fix.Kind, Runs: 3, Lost: 3, Why: "killed 3 of 3"}}
	if a := explained(t, s); slices.ContainsFunc(a.Fixes, func(f Fix) bool { return f.Text == fix.Text }) {
		t.Errorf("%s is a fix, though it was killed 3 of 3 times", fix.Text)
	}
}
