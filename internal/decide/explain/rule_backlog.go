package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var backlogPage = Page{
	Truth: "Work arrives faster than it is finished: queues and channels fill. The memory is freed when the load ends.",
	Looks: []string{
		"The live heap grew, and what the line held half-way through the run was freed since: items leave the queue, but more of them wait.",
		"What the channels contain in the heap capture, and how many goroutines wait to send.",
		"Slices that begin behind the start of their array, and arrays used as a ring: items were taken from their front.",
		"Linked lists, by their elements' places in two heap captures: what was at the front has left, and more came to the back.",
		"The processors: where all are busy, the work cannot keep up.",
	},
	Blind: []string{
		"A queue in a map, in a tree or in C's memory, or in a list of a heap that was captured once: it looks like a leak that is partly freed.",
	},
	Example: "a queue that fills faster than it is emptied",
}

// backlogEvidence is what speaks for and against a backlog, where the live heap grew.
var backlogEvidence = []clause{
	over("line.turnover", turnedOver, 1, "what the queue held half-way through the run was finished later"),
	over("queue.share", heldByRoot, 5, "a queue retains most of the memory"),
	over("queue.senders", one, 1, "goroutines wait to send"),
	over("line.freed", freedMuch, 0.5, ""),
	under("line.freed", freedLittle, -2, "hardly any of that memory was freed"),
	over("growth.late", goneOnGrowing, 0.5, ""),
	under("growth.late", lateGrowth, -3, "the live heap stopped growing"),
	over("root.frames", heldByRoot, -1, "calls in flight retain the memory"),
}

// judgeBacklog weighs the evidence where the live heap grew: items are freed, and more of them
// are held.
func judgeBacklog(c *Case) Finding {
	if reason := c.notGrowing(); reason != "" || c.site == nil || c.rise.n < int(fewestReadings.v()) {
		return minor(orElse(reason, "which line grew is not known"))
	}
	w := weigh(c.features, backlogEvidence)
	facts := []Fact{c.factCurve(), c.factSite()}
	if w.score < speakScore.v() {
		return minor("the items that grew were not seen to be finished", facts...)
	}
	f := Finding{Stance: Speaks, Bytes: c.leakBytes(), Score: w.score, Facts: facts, Culprit: culprit(c.site, "allocates")}
	f.Confidence, f.Because = w.confidence(), append(w.because(), w.against()...)
	f.Sentence = fmt.Sprintf("Work came in faster than it was finished%s. The waiting work grew from %s to %s in %s. %s of that was allocated at %s and %s.",
		c.in(), fsize(c.rise.first), fsize(c.rise.last), seconds(c.rise.to-c.rise.from), c.lineOf(), place(c.site.File, c.site.Line), c.held(c.site))
	f.Detail = "A backlog, not a leak."
	f.Why = []Why{{Text: c.finished(), Evidence: []string{"curve", "site"}}}
	return f
}

// finished says how much of the work left the queue, and what in the queue tells of it.
func (c *Case) finished() string {
	taken := ""
	if h := c.retainerOf(c.site); h != nil && h.Taken > 0 {
		taken = fmt.Sprintf(". %s or more were taken from the front of the queue since its array was made", count(int(h.Taken), "item"))
		if h.linked {
			taken = fmt.Sprintf(". %s or more have left the front of the list since the heap was captured before", count(int(h.Taken), "item"))
		}
	}
	if freed := c.freedShare(); freed > freedLittle.v() {
		return fmt.Sprintf("%.0f%% of what the line allocated was freed again, and still more of it is live", 100*freed) + taken
	}
	return "hardly any of what the line allocated was freed: the receiver takes items out of the queue far more slowly than they come, or not at all" + taken
}

// boundQueue is what to do with a queue: in a channel it comes to a height of its own, that of its room.
func (h *HeldBy) boundQueue() string {
	if h == nil || h.Entries == 0 || h.Room < 2*h.Entries {
		return "let new work wait, or refuse it, while so much is queued, or finish it faster"
	}
	full := sample.Bytes(float64(h.Retained) / float64(h.Entries) * float64(h.Room))
	return fmt.Sprintf("make the channel smaller, so that senders wait or drop items; with all %s items it would retain about %s",
		sample.Thousands(h.Room), size(full))
}

func orElse(text, without string) string {
	if text == "" {
		return without
	}
	return text
}
