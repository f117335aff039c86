package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/corpus/truth"
)

const file = "corpus/made/globalmap/main.go"

func fault() *truth.Truth {
	return &truth.Truth{Family: "globalmap", Name: "globalmap-faulty", Faulty: true, Classes: []string{"leak", "spiral"}, File: file,
		Lines: []int{30, 32}, NeedsLine: true, Holder: []string{"sessions"}, Trend: "growing"}
}

func innocent() *truth.Truth {
	return &truth.Truth{Family: "steadyset", Name: "steadyset-innocent", Classes: []string{"healthy"}, Trend: "flat"}
}

// judged is the truth beside an answer in the form of highwater.explain/1.
func judged(t *testing.T, of *truth.Truth, verdict string) *judgement {
	t.Helper()
	j := &judgement{Truth: of}
	if err := json.Unmarshal([]byte(`{"outcome": {"state": "exited"}, "verdict": `+verdict+`}`), &j.answer); err != nil {
		t.Fatal(err)
	}
	return j
}

func TestAnAnswerIsRightByClassAndLineOrHolder(t *testing.T) {
	hint := fault()
	hint.NeedsLine = false
	module := fault()
	module.Functions, module.Files = []string{"pool.(*Pool).wish"}, []string{"pool/pool.go", "main.go"}
	crash := fault()
	crash.Classes, crash.Says = []string{"healthy"}, []string{"panic"}
	const where = `"file": "github.com/highwater-go/highwater/corpus/made/globalmap/main.go"`
	for _, c := range []struct {
		name, verdict string
		of            *truth.Truth
		want          result
	}{
		{"the marked line", `{"class": "leak", "culprit": {` + where + `, "line": 32}}`, fault(), right},
		{"a second class that is true", `{"class": "spiral", "culprit": {` + where + `, "line": 30}}`, fault(), right},
		{"who keeps it", `{"class": "leak", "culprit": {"file": "x/frame.go", "line": 9, "held_by": {"path": "main.sessions"}}}`, fault(), right},
		{"another holder", `{"class": "leak", "culprit": {"file": "x/frame.go", "line": 9, "held_by": {"path": "main.products"}}}`, fault(), wrongLine},
		{"another line", `{"class": "leak", "culprit": {` + where + `, "line": 31}}`, fault(), wrongLine},
		{"the module's function", `{"class": "leak", "culprit": {"function": "example.com/pool.(*Pool).wish", "file": "pool/x.go", "line": 9}}`, module, right},
		{"the module's file", `{"class": "leak", "culprit": {"function": "example.com/pool.f", "file": "/mod/example.com/pool/pool.go", "line": 9}}`, module, right},
		{"another module's file", `{"class": "leak", "culprit": {"function": "example.com/spool.f", "file": "/mod/spool/pool.go", "line": 9}}`, module, wrongLine},
		{"the line of another file", `{"class": "leak", "culprit": {"file": "corpus/made/timers/main.go", "line": 32}}`, fault(), wrongLine},
		{"a folder that only ends the same", `{"class": "leak", "culprit": {"file": "xcorpus/made/globalmap/main.go", "line": 32}}`, fault(), wrongLine},
		{"no line", `{"class": "leak", "culprit": null}`, fault(), noLine},
		{"no line where none is needed", `{"class": "leak", "culprit": null}`, hint, right},
		{"a wrong line where none is needed", `{"class": "leak", "culprit": {"file": "a.go", "line": 3}}`, hint, wrongLine},
		{"healthy", `{"class": "healthy"}`, fault(), wrongClass},
		{"not decided", `{"class": "inconclusive"}`, fault(), undecided},
		{"a crash that is told", `{"class": "healthy", "sentence": "It ended with a panic."}`, crash, right},
		{"a crash that is not told", `{"class": "healthy", "sentence": "All was well."}`, crash, notSaid},
		{"an innocent one, healthy", `{"class": "healthy"}`, innocent(), right},
		{"an innocent one, accused", `{"class": "leak", "culprit": null}`, innocent(), falseAlarm},
		{"an innocent one, not decided", `{"class": "inconclusive"}`, innocent(), undecided},
		{"nothing at all", `{}`, innocent(), noAnswer},
	} {
		if got := judged(t, c.of, c.verdict).result(); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
	short := judged(t, innocent(), `{"class": "gc-unaware"}`)
	if got := short.result(); got != falseAlarm {
		t.Errorf("garbage in an innocent that went well: %s", got)
	}
	short.Outcome.ByKernel = true
	if got := short.result(); got != right {
		t.Errorf("garbage in an innocent that was killed: %s", got)
	}
	failed := judged(t, fault(), `{"class": "leak"}`)
	failed.failed = errors.New("explain: no such file")
	if got := failed.result(); got != noAnswer {
		t.Errorf("explain failed: %s", got)
	}
}

func some(t *testing.T) []*judgement {
	long := fault()
	long.Run.Seconds = 25
	return []*judgement{
		withReadings(judged(t, fault(), `{"class": "leak", "confidence": "high", "culprit": {"file": "`+file+`", "line": 30}}`), 5, "growing"),
		withReadings(judged(t, fault(), `{"class": "healthy", "confidence": "high"}`), 4, "flat"),
		withReadings(judged(t, long, `{"class": "inconclusive", "confidence": "low"}`), 2, "not-enough-data"),
		withReadings(judged(t, innocent(), `{"class": "healthy", "confidence": "medium"}`), 9, "flat"),
		withReadings(judged(t, innocent(), `{"class": "leak", "confidence": "low"}`), 9, ""),
	}
}

// withReadings gives an answer its readings and its trend.
func withReadings(j *judgement, readings int, trend string) *judgement {
	j.readings, j.answer.Trend.State = &readings, trend
	return j
}

func TestTheTotalsCountWhatTheyAreCalled(t *testing.T) {
	s := sum(some(t))
	for _, c := range []struct {
		name      string
		got, want share
	}{
		{"faults", s.faults, share{1, 3}},
		{"faults with three readings", s.enough, share{1, 2}},
		{"undecided of these", s.unnamed, share{0, 2}},
		{"false alarms", s.alarms, share{1, 2}},
		{"undecided innocents", s.open, share{0, 2}},
		{"undecided of long runs", s.long, share{1, 1}},
		{"trends", s.trends, share{2, 3}},
		{"high", s.confidence["high"], share{1, 2}},
		{"medium", s.confidence["medium"], share{1, 1}},
		{"low: what is not decided claims nothing", s.confidence["low"], share{0, 1}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v; want %v", c.name, c.got, c.want)
		}
	}
	if s.confusion["leak"]["healthy"] != 1 || s.confusion["leak"]["leak"] != 1 || s.confusion["healthy"]["leak"] != 1 {
		t.Errorf("%v", s.confusion)
	}
}

func TestAnAnswerWhoseReadingsAreNotKnownCountsAsOneWithEnough(t *testing.T) {
	j := judged(t, fault(), `{"class": "inconclusive"}`)
	if s := sum([]*judgement{j}); s.enough.of != 1 || s.haveNumbers {
		t.Errorf("%+v", s)
	}
	if text := figures([]*judgement{j}); strings.Contains(text, "3 readings") || strings.Contains(text, "trend") {
		t.Errorf("figures that nobody has:\n%s", text)
	}
}

func TestThePageHasTheFiguresAndTheMisses(t *testing.T) {
	page := markdown(some(t))
	for _, want := range []string{
		"| runs | 5 |", "| faults named to class and line | 1 of 3 (33 %) |", "| of those with three readings | 1 of 2 (50 %) |",
		"| high | 1 of 2 (50 %) |", "| | healthy | inconclusive | leak |", "| **leak** | 1 | 1 | 1 |",
		"| globalmap | 1 | 1 | 1 | 0 | 0 | 0 |", "| steadyset | 0 | 0 | 0 | 1 | 0 | 1 |",
		"| steadyset-innocent | healthy | exited, leak low | FALSE ALARM |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// heavy gives an answer the evidence that was weighed.
func heavy(t *testing.T, family string, faulty bool, class string, score float64) *judgement {
	of := innocent()
	if faulty {
		of = fault()
	}
	of.Family = family
	j := judged(t, of, `{"class": "`+class+`"}`)
	j.weighed = []hypothesis{{"burst", score - 3}, {class, score}}
	return j
}

func TestAFamilyIsJudgedByTheSumsOfTheOthers(t *testing.T) {
	var all []*judgement
	for i := range 40 { // of four families: right from 3 on, surely from 6 on
		family := []string{"a", "b", "c", "d"}[i%4]
		all = append(all, heavy(t, family, true, "leak", 6+float64(i%3)))
		if i%4 != 3 {
			all = append(all, heavy(t, family, true, "leak", 3))
		}
		all = append(all, heavy(t, family, false, "leak", 1))
	}
	all = append(all, heavy(t, "a", false, "leak", 4))
	before := leftOut(all)
	if before.alarms != (share{1, 41}) || before.named != (share{70, 70}) {
		t.Errorf("one false alarm of 41: %+v", before)
	}
	// A family of its own that is innocent with much evidence is accused by the sums of the others, with
	// high confidence: it had no part in choosing them.
	all = append(all, heavy(t, "odd", false, "leak", 8))
	with := leftOut(all)
	if with.alarms != (share{2, 42}) || with.high.of-with.high.n < 1 {
		t.Errorf("the odd family: %+v", with)
	}
	if k := choose(weighedRuns(all)); k.high <= 8 {
		t.Errorf("chosen by all, high begins at %g, though a run at 8 is innocent and few are above", k.high)
	}
	if page := markdown(all); !strings.Contains(page, "## Families left out") || !strings.Contains(page, "| other runs of which one is said | 2 of 42 (5 %) |") {
		t.Error(page)
	}
}
