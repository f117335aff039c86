package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// headroomWords say that most of the peak was room that the program's own GOGC leaves between the live heap and the next GC, "" where
// it was not, or where GOGC is neither off nor above its default of 100. Idle heap is counted up to the GC target: earlier cycles filled it.
func (c *Case) headroomWords() string {
	if c.g == nil || c.g.GOGC >= 0 && c.g.GOGC <= 100 {
		return ""
	}
	fresh := sum(c.own, sample.RowNew, sample.RowGarbage)
	idle := min(c.own.Row(sample.RowIdle), c.g.HeapGoal.Sub(c.own.Row(sample.RowLive)+fresh))
	if float64(fresh+idle) < heldByRoot.v()*c.hardPeak() {
		return ""
	}
	text := fmt.Sprintf("GOGC is %s, so the next GC was due only at %s, and %s of the heap was new or garbage", gogc(c.g.GOGC), goal(c.g.HeapGoal), size(fresh))
	if idle*20 > fresh {
		text += fmt.Sprintf(", and %s idle", size(idle))
	}
	return text + "."
}
