package explain

import (
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
