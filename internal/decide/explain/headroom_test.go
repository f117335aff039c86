package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A program that has set GOGC to 600 is healthy without a limit, and most of its peak is garbage: the answer says both.
func TestAPeakOfGarbageThatGOGCAllowsIsSaidOfAHealthyProgram(t *testing.T) {
	for gogc, want := range map[int32]string{100: "", 600: "GOGC is 600", -1: "GOGC is off"} {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
		s.heap(60, 60, 140)
		s.charge()
		s.work(0.5, 0.02, 20)
		s.cycles(20, 58, 60, 59, 60, 60, 60)
		if s.p.Go.GOGC = gogc; gogc < 0 {
			s.p.Go.MemoryLimit = 3 << 30
		}
		a := answerOf(t, s)
		said := a.Verdict.Detail + " " + a.Verdict.Sentence
		words := want + ", so the next GC was due only at 120 MiB, and 80.0 MiB of the heap was new or garbage."
		if got := strings.Contains(said, words); got != (want != "") || a.Verdict.Class != Healthy {
			t.Errorf("GOGC=%d: %s, %s", gogc, a.Verdict.Class, said)
		}
	}
}

// So is one whose peak was read when a part of that room was idle, up to the GC target.
func TestIdleHeapBelowTheGCTargetIsRoomOfGOGC(t *testing.T) {
	for goal, want := range map[sample.Bytes]bool{300 * sample.MiB: true, 130 * sample.MiB: false} {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
		s.heap(60, 60, 120)
		s.p.Residency.GoIdle += 80 * sample.MiB
		s.charge()
		s.work(0.5, 0.02, 20)
		s.cycles(20, 58, 60, 59, 60, 60, 60)
		s.p.Go.GOGC, s.p.Go.HeapGoal = 400, goal
		a := answerOf(t, s)
		said := a.Verdict.Detail + " " + a.Verdict.Sentence
		if got := strings.Contains(said, "60.0 MiB of the heap was new or garbage, and 80.0 MiB was free."); got != want || a.Verdict.Class != Healthy {
			t.Errorf("GC target %s: %s, %s", size(goal), a.Verdict.Class, said)
		}
	}
}

// Where too few GCs ran to tell whether the live heap grows, what GOGC lets the heap grow to is said all the same.
func TestWhatGOGCAllowsIsSaidWhereGrowthIsNotKnown(t *testing.T) {
	s := newScene()
	s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
	s.heap(37, 37, 124)
	s.p.Residency.GoIdle += 112 * sample.MiB
	s.charge()
	s.work(0.5, 0.02, 20)
	s.cycles(20, 37)
	s.noMark()
	for i := range s.Ticks.Anon { // it fills the room
		s.Ticks.Anon[i] *= 0.3 + 0.7*float64(i)/float64(len(s.Ticks.Anon))
		s.Ticks.Usage[i] = s.Ticks.Anon[i] + s.Ticks.PageCache[i]
	}
	s.p.Go.GOGC, s.p.Go.HeapGoal = 600, 259*sample.MiB
	a := answerOf(t, s)
	if said := "GOGC is 600, so the next GC was due only at 259 MiB, "; a.Verdict.Class != Inconclusive || !strings.HasPrefix(a.Verdict.Sentence, said) {
		t.Errorf("%s, %s", a.Verdict.Class, a.Verdict.Sentence)
	}
}
