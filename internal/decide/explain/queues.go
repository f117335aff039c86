package explain

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// queued is how much of the live heap the channels of the capture keep, or of what grew slices and lists from whose front items were taken, if they
// hold what the line allocated. A channel that is full, and that nobody waits to send into, does not grow as a queue: so looks a list of free buffers, which
// become larger.
func (c *Case) queued() float64 {
	if c.Heap == nil || c.Heap.LiveBytes == 0 {
		return math.NaN()
	}
	var n sample.Bytes
	for _, l := range c.Heap.Collections {
		if l.Kind == "channel" && l.Entries > 0 && !(isFull(l.Entries, l.Room) && c.senders() == 0) && !c.isChannelEach(l.Name) && !c.itemsGrow(l) {
			n += l.Bytes
		}
	}
	of := float64(c.Heap.LiveBytes)
	if h := c.retainerOf(c.site); h != nil && (h.Taken > 0 || h.isCalledQueue() && c.freedShare() > freedLittle.v()) {
		if n += h.Retained; c.site != nil && c.rise.grown > 0 {
			of = min(of, max(c.rise.grown, float64(c.site.Bytes))) // what else is live, and does not grow, is beside the point
		}
	}
	return min(1, float64(n)/of)
}

// itemsGrow reports whether the live heap grew within the items of a channel, as that of engines that are used in turn does: with all the items that it
// has room for it would have less than half of the growth, or each of its few items has twice as much as the live heap ever grew by
// between two readings, and what is sent comes whole.
func (c *Case) itemsGrow(l sample.HeapCollection) bool {
	each := float64(l.Bytes) / float64(l.Entries)
	few := c.rise.n >= int(manyReadings.v()) && float64(l.Entries) < manyCalls.v() && each > 2*c.rise.step
	return few || l.Room >= l.Entries && each*float64(l.Room) < heldByRoot.v()*c.rise.grown
}

// queueNames are what programs call what waits for somebody to take it: "(*retry.Queue).items", "(*hub.client).outbox".
var queueNames = regexp.MustCompile(`(?i)(queue|backlog|outbox)`)

// isCalledQueue reports whether what retains the memory is called a queue by the program: from whose middle items are taken, as from a
// heap by their time, nothing but its name tells that of it.
func (h *HeldBy) isCalledQueue() bool {
	name, _, _ := strings.Cut(h.Name, " ")
	return !h.isCalls() && queueNames.MatchString(name)
}

// isTaken reports whether items were taken from the front of slices, as queue = queue[1:] does, or of a ring: their arrays have some
// before the first that is in reach, until a new array is made. Of a linked list, those that were at its front at the capture
// before have left it.
func isTaken(o *sample.HeapOwner) bool {
	if o == nil || o.Kind != "slice" && o.Kind != "list" && o.Kind != "" || o.Taken == 0 {
		return false
	}
	share := takenFront.v()
	if float64(o.Taken) >= takenMany.v() {
		share /= 4
	}
	return float64(o.Taken) >= share*float64(o.Entries)
}

// wasTaken reports whether items were taken from the front of slices that show a few such items now, as another capture found
// them: append may just have made a new array.
func (c *Case) wasTaken(o *sample.HeapOwner) bool {
	return o.Kind != "list" && o.Taken > 0 && slices.ContainsFunc(c.Captures, func(k Captured) bool {
		return slices.ContainsFunc(k.Holders, func(h CapturedHolder) bool { return h.Name == o.Name && h.Taken })
	})
}
