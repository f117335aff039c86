package app

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// share has captures take little where what they take counts against the program's own
// limit, and those that nobody asked for next to nothing: they could have it killed.
func (t *heapTaker) share(shares bool) {
	if t == nil || !shares {
		return
	}
	t.shares, t.limit = true, func() sample.Bytes { return availableMemory() / 4 }
	if t.ByDefault {
		t.Peak = false
	}
}

// plenty is what must be free under a shared limit for a capture that nobody asked for:
// names and types of a program take 50 MiB to read, whatever its heap takes.
const plenty = 256 * sample.MiB

// mayShare refuses a heap that nobody asked for where there is little room for it, or may be.
func (t *heapTaker) mayShare(reason sample.HeapReason) error {
	if !t.shares || !t.ByDefault {
		return nil
	}
	if free, seen := ownFree(); reason != sample.HeapKill && seen && free >= plenty {
		return nil
	}
	return fmt.Errorf("highwater is under the program's memory limit, and to copy the heap would count against it; --heap %s does so all the same", reason)
}

// takerLimit is what one capture may take: a half of what is free, for what is free is
// its program's too, and no more than mostCopied.
func takerLimit() sample.Bytes { return min(availableMemory()/2, mostCopied) }

// mostTaken is what a capture may take of memory: what its policy allows, and no more than the machine
// has to spare.
func (t *heapTaker) mostTaken() sample.Bytes {
	limit := takerLimit
	if t.limit != nil {
		limit = t.limit
	}
	return min(limit(), t.memory())
}
