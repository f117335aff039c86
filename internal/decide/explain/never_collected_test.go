package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A program that switched GC off is not healthy, however little was live at its last collection, where nothing bounds
// its heap and most of its memory came since.
func TestAHeapThatNothingCollectsIsNotHealthy(t *testing.T) {
	for _, c := range []struct {
		name  string
		gogc  int32
		limit int64   // GOMEMLIMIT
		since float64 // MiB
		want  bool
	}{
		{"GC off", -1, sample.NoMemoryLimit, 470, true},
		{"GC off, with GOMEMLIMIT", -1, 512 << 20, 470, false},
		{"GC on", 100, sample.NoMemoryLimit, 470, false},
		{"GC off, and hardly anything allocated", -1, sample.NoMemoryLimit, 2, false},
	} {
		s := newScene()
		s.heap(0.1, 0.1+c.since, 480)
		s.charge()
		s.cycles(0.1, 0.1, 0.1, 0.1, 0.1)
		g := s.Moment.Processes[0].Go
		g.HeapMarked, g.HeapLive, g.GOGC, g.MemoryLimit = bytesOf(0.1), bytesOf(0.1+c.since), c.gogc, c.limit
		s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
		answer, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := answer.Verdict
		if got := v.Class == Inconclusive && strings.Contains(v.Sentence, "GC is off"); got != c.want {
			t.Errorf("%s: %s, %s", c.name, v.Class, v.Sentence)
		}
	}
}
