package explain

import (
	"math"

	"github.com/highwater-go/highwater/internal/measure/budget"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// expectation compares what was measured with what was expected; nil where nothing was.
func (c *Case) expectation() *budget.Expectation {
	if c.Probed.Budget == nil {
		return nil
	}
	m := budget.Measured{Ledger: c.ledger, Most: sample.Bytes(c.hardMost()), Killed: c.outcome.Kernel, Ended: c.outcome.State != Seen}
	if _, set := c.memoryLimit(); c.g != nil && !set {
		m.GOGC = int(c.g.GOGC)
	}
	return c.Probed.Budget.Compare(m)
}

// hardMost is the greatest of what could not be taken back, over the run.
func (c *Case) hardMost() float64 {
	most := 0.0
	for _, v := range c.hard() {
		if !math.IsNaN(v) {
			most = max(most, v)
		}
	}
	return most
}
