package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// unluckyScenes are runs whose cause is known, looked at from a busy machine: what
// was not read is missing. Each had a wrong answer once, or none.
var unluckyScenes = map[string]struct {
	run        func() *scene
	class      Class
	confidence Confidence
	culprit    string // file:line, "" for none
}{
	"a value whose first collections went unseen": {func() *scene {
		s := scenes["a value that is read whole"]()
		s.heap(161, 161, 236)
		s.killed()
		s.cycles(200, 161)
		s.Cycles[0].N = 4
		return s
	}, Burst, Medium, "bodies.go:57"},
	"a value that is being filled, without a mark": {func() *scene {
		s := scenes["a value that is being filled"]()
		s.noMark()
		s.cycles(95, 4, 23, 47, 101, 211)
		s.Sites[0].Bytes, s.Sites[0].Since, s.Sites[0].Largest = 94*mib, 160*mib, 42*mib
		return s
	}, Inconclusive, Low, ""},
	"uploads whose stacks were read a second before": {func() *scene {
		s := scenes["burst of uploads"]()
		s.p.Goroutines = nil
		s.stand(29, 150, 3, 0)
		return s
	}, Burst, Medium, "upload.go:172"},
	"requests of whose end little was read": {func() *scene {
		s := newScene()
		s.heap(150, 193, 236)
		s.killed()
		s.noMark()
		s.cycles(60, 4, 60, 5, 70, 5, 150)
		s.p.Go.HeapGoal = 257 * mib
		up := s.site("example.org/shop/handlers.(*Server).Upload", "/build/shop/handlers/upload.go", 172, 40, 0)
		up.Stack = append(up.Stack, sample.Frame{Func: "net/http.serverHandler.ServeHTTP", File: "net/http/server.go", Line: 3200})
		s.stand(20, 30, 3, 0)
		s.running(1)
		return s
	}, Inconclusive, Low, ""},
	"a heap profile from before the growth": {func() *scene {
		s := leaking()
		s.noMark()
		s.Sites[0].Bytes, s.Sites[0].Growth, s.Sites[0].Allocated = 3*mib, 2<<20, 3*mib
		s.Sites[0].Course = nil
		s.stand(10, 3, 1, 0)
		s.stand(20, 3, 0, 0)
		return s
	}, Inconclusive, Low, ""},
	"a leak before a jump that was not seen": {func() *scene {
		s := newScene()
		s.heap(90, 100, 120)
		s.noMark()
		s.charge()
		s.End = s.Moment.At.Add(500 * time.Millisecond)
		s.cycles(25, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90)
		s.site("example.org/shop/cache.(*Cache).Put", "/build/shop/cache/cache.go", 57, 88, 0.01)
		s.stand(10, 40, 1, 0)
		s.stand(20, 60, 0, 0)
		s.Events = append(s.Events[:1], sample.Event{At: s.End, Kind: sample.EventOOMKill, Value: 1}, sample.Event{At: s.End, Kind: sample.EventOOM, Value: 1},
			sample.Event{At: s.End, Kind: sample.EventExit, Process: subject, Value: 137, Text: "signal 9"})
		return s
	}, Inconclusive, Low, ""},
	"a job that began late and kept what it worked on": {func() *scene {
		s := newScene()
		s.heap(122, 150, 180)
		s.Moment.Cgroup.Limit = sample.Some(1536 * mib)
		s.noMark()
		s.charge()
		s.End = s.Start.Add(5 * time.Second)
		s.Moment.At = s.Start.Add(4600 * time.Millisecond)
		s.cycles(40, 5, 9, 16, 23, 28, 39, 46, 69, 109, 122)
		for i := range s.Cycles {
			s.Cycles[i].At = s.Start.Add(1900*time.Millisecond + time.Duration(i)*200*time.Millisecond)
			s.Cycles[i].Alloc = bytesOf([]float64{7, 19, 26, 46, 63, 95, 135, 182, 240, 404}[i])
		}
		s.Events[1].At = s.End
		s.ended(0)
		s.site("example.org/shop/files.write", "files.go", 60, 95, 0)
		return s
	}, Healthy, Low, ""},
	"a profile from long before the end": {func() *scene {
		s := scenes["patterns compiled for every value"]()
		for i := range s.Allocators {
			s.Allocators[i].Bytes /= 10
		}
		return s
	}, Healthy, Low, ""},
}

func TestWhatTheCollectorLetPileUpIsNotTheCauseWhereOthersGrew(t *testing.T) {
	for low, want := range map[float64]Class{299: GCUnaware, 20: Inconclusive} {
		s := newScene()
		s.heap(100, 102, 243)
		s.killed()
		s.cycles(70, 40, 60, 100, 101, 100, 102, 100)
		s.site("example.org/shop/index.Load", "/build/shop/index/index.go", 31, 100, 0)
		s.p.Go.HeapGoal = 300 * mib
		s.Moment.Cgroup.Limit = sample.Some(s.Moment.Cgroup.Limit.V + 300*mib)
		s.beside(4712, "shop", true, 300)
		s.Spans[sample.ProcessKey{PID: 4712, Start: 98}] = Span{Low: bytesOf(low), High: 300 * mib, Seconds: 30}
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Verdict.Class != want {
			t.Errorf("the other one from %v MiB: %s, want %s: %s %q", low, a.Verdict.Class, want, a.Verdict.Sentence, a.Verdict.NotKnown)
		}
		checkAnswer(t, a)
	}
}

func TestWhatWasNotReadMakesNoAnswerFalse(t *testing.T) {
	for name, c := range unluckyScenes {
		t.Run(name, func(t *testing.T) {
			a, err := Explain(c.run().Evidence, nil)
			if err != nil {
				t.Fatal(err)
			}
			if a.Verdict.Class != c.class || a.Verdict.Confidence != c.confidence {
				t.Errorf("verdict %s (%s), want %s (%s): %s %q", a.Verdict.Class, a.Verdict.Confidence, c.class, c.confidence, a.Verdict.Sentence, a.Verdict.NotKnown)
			}
			got := ""
			if k := a.Verdict.Culprit; k != nil && k.File != "" {
				got = place(k.File, k.Line)
			}
			if !strings.HasSuffix(got, c.culprit) || (c.culprit == "") != (got == "") {
				t.Errorf("culprit %q, want %q", got, c.culprit)
			}
			checkAnswer(t, a)
		})
	}
}

// The kernel frees what a program had 2 s after it killed it: where nothing was read by then, nothing is blamed.
func TestAKillOfWhichNothingWasReadBlamesNothing(t *testing.T) {
	s := leaking()
	s.Sites, s.Moment = nil, sample.Moment{At: s.End, Kind: sample.MomentDeath,
		Processes: []sample.ProcessMoment{{Key: subject, Signal: 9, Incomplete: "freed"}}}
	s.At, s.p = "kill", &s.Moment.Processes[0]
	s.Gaps = append(s.Gaps, sample.Gap{Process: subject, What: "another", Why: "one"}, sample.Gap{Process: subject, What: sample.GapKill, Why: "freed"})
	a := explained(t, s)
	if a.Verdict.Class != Inconclusive || a.Ledger.TotalBytes != 0 || !a.Outcome.Kernel {
		t.Errorf("verdict %+v of %d bytes, outcome %+v", a.Verdict, a.Ledger.TotalBytes, a.Outcome)
	}
	if len(a.Gaps) < 2 || a.Gaps[0].What != sample.GapKill && !strings.Contains(a.Gaps[0].What, sample.GapKill) {
		t.Errorf("gaps %+v, want the kill's first", a.Gaps)
	}
}
