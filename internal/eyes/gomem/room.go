package gomem

import (
	"errors"
	"fmt"
	"math"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// ErrTooLarge says that tables, or a heap's graph, would take more memory than was allowed.
var ErrTooLarge = errors.New("the analysis would take more memory than it may")

// Room says how much of our memory there is for tables whose size the program decides:
// its runtime's lists may be of any length that it writes there. It is asked before
// memory is taken; nil: whatever the other bounds allow.
type Room func() sample.Bytes

// Within sets how much memory may be taken at a time for what is read of this runtime:
// most is asked before each growth. What needs more is refused with ErrTooLarge, and of a
// heap profile the rest is counted.
func (r *Runtime) Within(most func() sample.Bytes) {
	r.room, r.spans.room, r.goroutines.room = most, most, most
}

// Most is how much that is now.
func (r Room) Most() sample.Bytes {
	if r == nil {
		return math.MaxInt64
	}
	return r()
}

// smallTables are taken without asking: to learn what is free takes longer than to fill them.
const smallTables = 256 << 10

// fits refuses tables that need more than there is.
func (r Room) fits(need uint64) error {
	if need <= smallTables {
		return nil
	}
	if most := r.Most(); sample.Bytes(need) > most {
		return fmt.Errorf("%w: tables of %d MiB of %d MiB", ErrTooLarge, need>>20, most/sample.MiB)
	}
	return nil
}
