package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// errSmallHeap says that nobody asked for a capture, and that it would explain nothing.
var errSmallHeap = errors.New("the heap is small")

// mayTake refuses a heap that nobody asked for where it is small.
func (t *heapTaker) mayTake(target *heapTarget) error {
	if !t.ByDefault {
		return nil
	}
	var now sample.Runtime
	if err := target.stats.Counters(&now); err != nil {
		return err
	}
	if now.HeapInUse < smallHeap {
		return errSmallHeap
	}
	return nil
}

// firstRate is how fast a heap is copied, in bytes a second, as long as none was: half of
// what the slowest machine of docs/benchmarks.md does.
const firstRate = 1 << 30

// mayStop refuses to stop a program for a copy of so many bytes that nobody asked for if
// that would take too long.
func (t *heapTaker) mayStop(n sample.Bytes) error {
	if !t.ByDefault {
		return nil
	}
	t.mu.Lock()
	rate := t.rate
	t.mu.Unlock()
	if rate == 0 {
		rate = firstRate
	}
	if takes := time.Duration(float64(n) / rate * float64(time.Second)); takes > quietStop {
		return fmt.Errorf("to copy it would pause the program for about %s, and nothing may pause it for more than %s unasked; --heap peak does",
			units.Duration(takes), units.Duration(quietStop))
	}
	return nil
}

// missed notes why a living program's heap was not captured; where nobody asked, once.
func (t *heapTaker) missed(p sample.Program, why error) {
	if t.ByDefault {
		t.mu.Lock()
		said := t.told || errors.Is(why, errSmallHeap)
		t.told = t.told || !said
		t.mu.Unlock()
		if said {
			return
		}
	}
	t.gap(p, "", why)
}
