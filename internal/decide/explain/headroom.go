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
	text := fmt.Sprintf("GOGC is %s, so the next GC was due only at %s", gogc(c.g.GOGC), goal(c.g.HeapGoal))
	if idle*20 > fresh {
		return text + fmt.Sprintf(", %s of the heap was new or garbage, and %s was free.", size(fresh), size(idle))
	}
	return text + fmt.Sprintf(", and %s of the heap was new or garbage.", size(fresh))
}
