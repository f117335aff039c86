package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A program that has set GOGC to 600 is healthy without a limit, and its peak is garbage: the answer says both.
func TestAPeakOfGarbageThatGOGCAllowsIsSaidOfAHealthyProgram(t *testing.T) {
	for gogc, want := range map[int32]bool{100: false, 600: true} {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
		s.heap(60, 60, 140)
		s.charge()
		s.work(0.5, 0.02, 20)
		s.cycles(20, 58, 60, 59, 60, 60, 60)
		s.p.Go.GOGC = gogc
		c := newCase(s.Evidence)
		if got := strings.Contains(c.headroomWords(), "With GOGC=600 the heap may grow to 7.0 times what is live before GC runs: "); got != want {
			t.Errorf("GOGC=%d: %q, %v of %v, live %v", gogc, c.headroomWords(), size(c.waste()), fsize(c.hardPeak()), size(c.live.bytes))
		}
	}
}
