package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// headroomWords say that most of the peak was new heap or garbage, as the program's own GOGC lets it, "" where it was not, or where
// GOGC is not above its default of 100.
func (c *Case) headroomWords() string {
	fresh := sum(c.own, sample.RowNew, sample.RowGarbage)
	if c.g == nil || c.g.GOGC <= 100 || float64(fresh) < heldByRoot.v()*c.hardPeak() {
		return ""
	}
	return fmt.Sprintf("GOGC is %d, so the next GC was due only at %s, and %s of the heap was new or garbage.", c.g.GOGC, goal(c.g.HeapGoal), size(fresh))
}
