package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// What waits in a channel is a backlog, also where its receiver is so slow that hardly anything of it was freed: from
// the counts of the heap profile alone that is a leak.
func TestWhatWaitsInAChannelIsABacklog(t *testing.T) {
	for name, c := range map[string]struct {
		kind    string
		entries uint64
		want    Class
		fix     string
	}{
		"a channel with much room": {"channel", 900, Backlog, "with all 10,000 items it would retain about 2.1 GiB"},
		"a channel that is full":   {"channel", 10_000, Backlog, "let new work wait, or refuse it"},
		"full, and nobody sends":   {"channel", 9_700, Leak, "drop values that have grown large"},
		"a map":                    {"map", 900, Leak, "delete entries"},
	} {
		s := scenes["a queue that fills faster than it is emptied"]()
		s.Sites = nil
		s.site("example.org/shop/jobs.Read", "/build/shop/jobs/jobs.go", 31, 190, 0)
		s.Heap.Collections[0].Kind, s.Heap.Collections[0].Entries = c.kind, c.entries
		if strings.HasSuffix(name, "nobody sends") {
			s.p.Goroutines = nil
			s.waiting("example.org/shop/jobs.Serve", "/build/shop/jobs/jobs.go", 90, 4, "IO wait", 3)
		}
		a := answerOf(t, s)
		if a.Verdict.Class != c.want || a.Verdict.Confidence == Low || len(a.Fixes) == 0 || !strings.Contains(a.Fixes[0].Text, c.fix) {
			t.Errorf("%s: %s, %s, %+v", name, a.Verdict.Class, a.Verdict.Confidence, a.Fixes)
		}
	}
}

// What waits in a slice is a backlog where items are taken from its front: then it begins behind the start of its array.
func TestWhatWaitsInASliceThatLosesItsFirstItemsIsABacklog(t *testing.T) {
	for k := range 7 {
		taken, want := []uint64{0, 1, 900, 900}[k/2], []Class{Inconclusive, Inconclusive, Backlog, Inconclusive}[k/2]
		s := scenes["a queue that fills faster than it is emptied"]()
		s.p.Goroutines, s.Heap.Collections = nil, nil
		s.Heap.Paths[1].Owner = &sample.HeapOwner{Name: "(*hub).messages", Type: "[]*message", Kind: "slice", Entries: 9000, Taken: taken}
		if k%2 == 1 { // a library's: the program itself has no such slice
			s.Heap.Paths[1].Owner.Type, s.Heap.Paths[1].Owner.Kind = "deque.Deque[*message]", ""
		}
		if k == 6 { // a sync.Pool's
			s.Heap.Paths[1].Label = ".local[].poolLocalInternal.shared" + s.Heap.Paths[1].Label
		}
		a := answerOf(t, s)
		said := strings.Contains(fmt.Sprint(a.Verdict.Why), "900 items or more were taken from the front of the queue")
		if a.Verdict.Class != want || said != (want == Backlog) || want == Backlog && !strings.Contains(a.Fixes[0].Text, "let new work wait") {
			t.Errorf("%d taken: %s, %s, %v, %+v", taken, a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Why, a.Fixes)
		}
	}
}

// What waits in a heap by its time is taken from any place in it: that it is called a queue, and that some of it was
// freed, tells what it is. Of what nothing was freed nobody took anything.
func TestWhatIsCalledAQueueAndIsFreedIsABacklog(t *testing.T) {
	for _, k := range []struct {
		name  string
		freed sample.Opt[float64]
		want  Class
	}{{"(*retry.Queue[*shop.Batch]).items", sample.Some(0.25), Backlog}, {"(*hub.client).outbox", sample.Some(0.25), Backlog},
		{"(*retry.Timer).items", sample.Some(0.25), Inconclusive}, {"(*retry.Queue[*shop.Batch]).items", sample.Some(0.01), Leak}} {
		s := scenes["a queue that fills faster than it is emptied"]()
		s.p.Goroutines, s.Heap.Collections = nil, nil
		s.Heap.Paths[1].Owner = &sample.HeapOwner{Name: k.name, Type: "retry.dueHeap", Kind: "slice", Entries: 9000}
		for i := range s.Sites {
			s.Sites[i].FreedOfHeld = k.freed
		}
		a := answerOf(t, s)
		if (a.Verdict.Class == Backlog) != (k.want == Backlog) {
			t.Errorf("%s, %v freed: %s (%s): %v", k.name, k.freed.V, a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Why)
		}
	}
}

// What waits in a linked list is one where what was at its front has left it since the capture before.
func TestWhatWaitsInAListThatLosesItsFirstItemsIsABacklog(t *testing.T) {
	for taken, want := range map[uint64]Class{0: Inconclusive, 900: Backlog} {
		s := scenes["a queue that fills faster than it is emptied"]()
		s.p.Goroutines, s.Heap.Collections = nil, nil
		s.Heap.Paths[0].Label = "goroutine main.work" // which it is reached from, too
		s.Heap.Paths[1].Owner = &sample.HeapOwner{Name: "(*worker).jobs", Type: "*list.List", Kind: "list", Entries: 9000, Taken: taken}
		a := answerOf(t, s)
		said := strings.Contains(fmt.Sprint(a.Verdict.Why), "900 items or more have left the front of the list since the heap was captured before")
		if a.Verdict.Class != want || said != (want == Backlog) || want == Backlog && !strings.Contains(a.Fixes[0].Text, "let new work wait") {
			t.Errorf("%d taken: %s, %s, %v, %+v", taken, a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Why, a.Fixes)
		}
	}
}

// A slice that shows hardly any such item, because append has just made a new array, is a queue where another capture showed some, however
// much else is live.
func TestAQueueWhoseArrayIsNewIsKnownByAnotherCapture(t *testing.T) {
	for taken, want := range map[bool]Class{false: Leak, true: Backlog} {
		s := scenes["a queue that fills faster than it is emptied"]()
		s.p.Goroutines, s.Heap.Collections = nil, nil
		s.Heap.LiveBytes *= 3
		s.Heap.Paths[1].Owner = &sample.HeapOwner{Name: "(*hub).messages", Type: "[]*message", Kind: "slice", Entries: 9000, Taken: 3}
		s.Captures = append(s.Captures, Captured{At: 12, InUse: 100 * mib, Holders: []CapturedHolder{{Name: "(*hub).messages", Taken: taken}}})
		if a := answerOf(t, s); a.Verdict.Class != want {
			t.Errorf("taken from earlier %v: %s, %s", taken, a.Verdict.Class, a.Verdict.Sentence)
		}
	}
}

// A consumer that takes a tenth of what comes has taken 750 items of 30,000 since the array was made: nobody skips a header of so many.
func TestAFewOfManyItemsTakenFromTheFrontTellAQueue(t *testing.T) {
	for taken, want := range map[uint64]Class{750: Backlog, 50: Inconclusive, 200: Inconclusive} {
		s := scenes["a queue that fills faster than it is emptied"]()
		s.p.Goroutines, s.Heap.Collections = nil, nil
		s.Heap.Paths[1].Owner = &sample.HeapOwner{Name: "(*pipeline).pending", Type: "[]position", Kind: "slice", Entries: 30_000, Taken: taken}
		if a := answerOf(t, s); a.Verdict.Class != want {
			t.Errorf("%d taken: %s: %s", taken, a.Verdict.Class, a.Verdict.Sentence)
		}
	}
}

// A channel of four engines that are used in turn, and that become larger, has nothing that waits: so has one that was seen before the rise, with room for
// one more of what was small then.
func TestAChannelWhoseItemsGrowIsNoQueue(t *testing.T) {
	for name, k := range map[string]struct {
		entries, room uint64
		bytes, step   float64
		n             int
		want          bool
	}{
		"seen before the rise":  {3, 4, 1.3, 20, 9, true},
		"large items":           {3, 4, 90, 6, 30, true},
		"items that come whole": {3, 4, 90, 25, 30, false},
		"many items":            {900, 1000, 90, 6, 30, false},
		"room for many":         {3, 10_000, 1.3, 20, 9, false},
	} {
		c := &Case{rise: rise{n: k.n, grown: 92 * float64(mib), step: k.step * float64(mib)}}
		if got := c.itemsGrow(sample.HeapCollection{Kind: "channel", Entries: k.entries, Room: k.room, Bytes: bytesOf(k.bytes)}); got != k.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
