package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// burstSentence says how many calls held how much. Running goroutines, whose
// stacks were not read, may be calls too: then it says "at least", and nothing
// of a single call.
func burstSentence(c *Case) string {
	s, n := c.site, sample.Bytes(c.inFlight.calls)
	held, used := max(c.inFlight.held, s.Bytes), "used "
	if !c.live.exact {
		most := min(held+s.Since, max(held, c.liveRows())) // of what came since, no more than may be live
		if float64(most-held) >= blamedPart.v()*float64(most) {
			used += "up to " // some of that may be garbage
		}
		held = most
	}
	if c.swingsElsewhere() {
		return fmt.Sprintf("The live heap reached %s at the %s, %s of that allocated at %s. It %s. What this line allocated before came and went.", size(c.live.bytes),
			c.momentName(), partOf(s.Bytes, c.live.bytes), place(s.File, s.Line), c.held(s))
	}
	if c.peakAlone() {
		return fmt.Sprintf("The live heap reached %s at the %s, %s of that allocated at %s. Most of this memory was gone soon after.", size(c.live.bytes),
			c.momentName(), partOf(s.Bytes, c.live.bytes), place(s.File, s.Line))
	}
	if n == 0 {
		return fmt.Sprintf("Calls in flight had %s live at the %s, allocated at %s%s.", size(held), c.momentName(), place(s.File, s.Line), c.untouchedWords(held))
	}
	before := c.leftBefore(held)
	held -= before
	text := fmt.Sprintf("%s of %s%s %s in flight and %s%s", count(c.inFlight.calls, "call"), ShortFunc(c.inFlight.name), c.in(), was(c.inFlight.calls),
		used, size(held))
	if n == 1 && c.inFlight.name == "main.main" {
		text = fmt.Sprintf("The function main%s itself %s%s", c.in(), used, size(held))
	} else if c.inFlight.running > 0 {
		text = "At least " + text
	} else if n > 1 {
		text += c.eachWords(held, n)
	}
	switch {
	case before > 0:
		text += fmt.Sprintf(", on top of %s that earlier calls had left", size(before))
	case c.inFlight.name != s.Function && s.Bytes < held:
		text += fmt.Sprintf(", %s of that allocated at %s", size(s.Bytes), place(s.File, s.Line))
	}
	return text + c.untouchedWords(held) + "."
}

// eachWords say how much each of n calls holds, and how many have room under the limit where that is fewer.
func (c *Case) eachWords(held, n sample.Bytes) string {
	each := held / n
	text := fmt.Sprintf(" together, %s each", size(each))
	if left := c.bound.Sub(c.nonHeap() + c.live.bytes.Sub(held)); c.limit > 0 && each > 0 && left/each < n {
		text += fmt.Sprintf(". The limit has room for %s", room(int(left/each)))
	}
	return text
}

// leftBefore is how much of what calls hold was there before a sudden growth: a table that is loaded again lies next to the old one.
func (c *Case) leftBefore(held sample.Bytes) sample.Bytes {
	if !c.rise.isSudden() || !(c.inFlight.left >= blamedPart.v()) {
		return 0
	}
	return sample.Bytes(c.inFlight.left * float64(held))
}

// untouchedWords says how much of what calls held has no page behind it, "" if that is
// little. Charged is then what else there was: garbage, where the collector aims at
// twice a live heap of which most is not there.
func (c *Case) untouchedWords(held sample.Bytes) string {
	untouched := min(held, c.untouched())
	switch {
	case untouched <= c.live.bytes/20:
		return ""
	case untouched*2 > held && c.waste()*10 > c.bound*3 && c.g.HeapGoal < unlimited:
		return fmt.Sprintf(". Most of this memory was not written yet, so the kernel does not count it. But the next GC was due only at %s, and %s of garbage was left",
			size(c.g.HeapGoal), size(c.waste()))
	}
	return fmt.Sprintf(". Of this memory, %s was not written yet, so the kernel does not count it", size(untouched))
}

// room is how many calls fit, in words. It leaves no space for garbage, so that
// it is an upper bound.
func room(n int) string {
	if n == 0 {
		return "less than one call"
	}
	return fmt.Sprintf("at most %d such calls", n)
}
