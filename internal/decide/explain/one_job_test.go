package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// jobInOneCall is a program that rose and fell while one call worked all along, and ended by itself.
func jobInOneCall() *scene {
	s := newScene()
	s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
	s.At = "peak"
	s.heap(110, 110, 150)
	s.charge()
	s.cycles(60, 20, 60, 20, 65, 20, 54)
	s.work(1, 0.05, 60)
	s.ended(0)
	s.site("example.org/shop/rows.Sort", "/build/shop/rows/rows.go", 39, 40, 0.8)
	for i := range 8 {
		s.stand(float64(i), 20, 1, 0)
	}
	s.inside("example.org/shop/rows.Sort", 1)
	return s
}

// A burst is not said of the one call that is all the work of a job, where no limit is near. Two calls make one.
func TestTheOnlyCallOfAJobIsNoBurst(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*scene)
		stance Stance
	}{
		"one call all along": {func(*scene) {}, Silent},
		"two calls":          {func(s *scene) { s.inside("example.org/shop/rows.Sort", 1) }, Speaks},
	} {
		s := jobInOneCall()
		c.change(s)
		if f := judgeBurst(newCase(s.Evidence)); f.Stance != c.stance || f.Stance == Silent && !strings.Contains(f.Reason, "the whole work") {
			t.Errorf("%s: %v: %s%s", name, f.Stance, f.Reason, f.Sentence)
		}
	}
}

// What came since the last GC may be garbage: calls use up to that.
func TestACallUsesUpToWhatMayBeGarbage(t *testing.T) {
	for since, want := range map[sample.Bytes]string{0: "used 40", 30 * mib: "used up to "} {
		c := newCase(jobInOneCall().Evidence)
		c.site.Since, c.live.exact = since, false
		if got := burstSentence(c); !strings.Contains(got, want) {
			t.Errorf("%v: %s", since, got)
		}
	}
}

// What grew until a program that serves nobody ended by itself may be the result of the one call that made it, and a leak of
// that call; what a variable of main's has is for longer than the call.
func TestTheResultOfTheOnlyCallOfAJobIsNotSurelyALeak(t *testing.T) {
	for frame, want := range map[string]Class{"example.org/shop/rows.Distances": Inconclusive, "main.main": Leak} {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
		s.heap(190, 212, 240)
		s.charge()
		s.cycles(60, 10, 30, 50, 70, 90, 110, 130, 150, 170, 190)
		s.work(0.3, 0.02, 60)
		s.ended(0)
		s.site("example.org/shop/rows.Distances", "/build/shop/rows/rows.go", 49, 200, 0)
		for i := range 24 {
			s.stand(float64(i), 8*float64(i), 1, 0)
		}
		s.inside("example.org/shop/rows.Distances", 1)
		s.retained("runtime.main")
		s.Heap.Paths[0].Root.First = 1
		s.Heap.Paths[1].Label = " in " + frame
		a := answerOf(t, s)
		said := strings.Contains(fmt.Sprint(a.Verdict), "one call of rows.Distances made and retained it")
		if a.Verdict.Class != want || said != (want == Inconclusive) || a.Verdict.Confidence != Low {
			t.Errorf("in the frame of %s: %+v", frame, a.Verdict)
		}
		if want == Leak && a.Verdict.Detail != "A leak, or what the job keeps for its result." {
			t.Errorf("said: %s", a.Verdict.Detail)
		}
	}
}
