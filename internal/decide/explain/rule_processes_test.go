package explain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// processScenes are of children that a program starts.
var processScenes = map[string]func() *scene{
	"plugins that nobody ends": func() *scene { return plugins(16, func(i int) float64 { return float64(1+i) * 1.8 }) },
}

// plugins is a program that has started n children, each at its time in seconds, and was killed at 30 s.
func plugins(n int, at func(int) float64) *scene {
	s := newScene()
	s.heap(4, 4, 6)
	s.killed()
	s.Moment.Cgroup.Stat.PageCache = mib
	s.charge()
	s.cycles(6, 4, 4, 4, 4, 4, 4)
	s.steady()
	s.Events = s.Events[:1]
	for i := range n {
		s.child(5000+i, at(i), 14)
	}
	return s
}

// child adds one that the program started at a time, with its memory in MiB; 0: it has ended.
func (s *scene) child(pid int, at, v float64) {
	key := sample.ProcessKey{PID: pid, Start: 98}
	if v > 0 {
		s.beside(pid, "plugin", true, v)
	} else {
		s.Programs = append(s.Programs, sample.Program{Key: key, Name: "plugin"})
	}
	p := &s.Programs[len(s.Programs)-1]
	p.Parent, p.Args = subject.PID, []string{"plugin", "-serve"}
	s.Events = append(s.Events, sample.Event{At: began.Add(time.Duration(at * float64(time.Second))), Kind: sample.EventStart, Process: key})
	if v == 0 {
		s.Events = append(s.Events, sample.Event{At: began.Add(time.Duration(at*float64(time.Second)) + time.Second), Kind: sample.EventExit, Process: key})
	}
}

// Children pile up where they are started one after another and do not end; workers are started together, or until there are enough.
func TestChildrenThatDoNotEndPileUp(t *testing.T) {
	steadily := func(i int) float64 { return float64(1+i) * 1.8 }
	for name, k := range map[string]struct {
		n     int
		at    func(int) float64
		ended int
		want  bool
	}{
		"one after another":         {16, steadily, 0, true},
		"one of them ended":         {16, steadily, 1, true},
		"most end":                  {16, steadily, 12, false},
		"workers":                   {16, func(i int) float64 { return float64(i) * 0.01 }, 0, false},
		"until there are enough":    {16, func(i int) float64 { return float64(i) }, 0, false},
		"one more at the end":       {16, func(i int) float64 { return []float64{0.1, 28}[i/15] }, 0, false},
		"three helpers, of a while": {3, func(i int) float64 { return float64(1+i) * 9 }, 0, false},
	} {
		s := plugins(k.n, k.at)
		for i := range k.ended {
			s.child(6000+i, float64(2*i), 0)
		}
		a := answerOf(t, s)
		if got := a.Verdict.Class == Processes; got != k.want {
			t.Errorf("%s: %s: %s", name, a.Verdict.Class, a.Verdict.Sentence)
		}
		if words := fmt.Sprintf("%d processes of plugin -serve used 224 MiB together. shop (pid 4711) started them one after another", k.n); k.want &&
			(!strings.Contains(a.Verdict.Sentence, words) || len(a.Fixes) != 1 || !strings.Contains(a.Fixes[0].Text, "wait for it")) {
			t.Errorf("%s: %s %+v", name, a.Verdict.Sentence, a.Fixes)
		}
	}
}

// Sixteen workers that were started together need what they have, each a seventeenth, unless they still grew.
func TestManySmallWorkersNeedWhatTheyHaveUnlessTheyGrow(t *testing.T) {
	for low, want := range map[float64]Class{14: Baseline, 6: Inconclusive} {
		s := plugins(16, func(i int) float64 { return float64(i) * 0.01 })
		for key, span := range s.Spans {
			if key != subject {
				span.Low = bytesOf(low)
				s.Spans[key] = span
			}
		}
		if a := answerOf(t, s); a.Verdict.Class != want {
			t.Errorf("from %.0f MiB each: %s: %s", low, a.Verdict.Class, a.Verdict.Sentence)
		}
	}
}
