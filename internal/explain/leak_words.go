package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/sample"
)

// lineless judges a heap that grew to the end where no profile says at which line:
// where the goroutines became no more, it is no pile of calls.
func lineless(c *Case, grown float64) Finding {
	k := c.curve
	before, after := c.goroutinesOf(k.floorEnd)
	switch {
	case !c.outcome.Kernel || after == 0 || after > before+max(4, before/4):
		return undecided(grown, "the live heap grew to the end, but no heap profile says at which line", c.factCurve())
	case c.unmarked() > 0.3:
		return undecided(grown, "no heap profile says at which line the live heap grew, and no mark how much of it was live at the end", c.factCurve())
	}
	span := k.points[len(k.points)-1].at - k.points[0].at
	f := Finding{Stance: Speaks, Bytes: sample.Bytes(grown), Facts: []Fact{c.factCurve()}, Confidence: Low}
	f.Sentence = fmt.Sprintf("The live heap%s grew from %s to %s in %s and never came back; at which line is not known, as there is no heap profile.",
		c.of(), fsize(k.first), fsize(k.last), seconds(span))
	if h := c.keeper(nil); h != nil {
		f.Sentence += fmt.Sprintf(" %s holds %s of it.", h, size(h.Retained))
	}
	f.Detail = "A leak, or a data set that was still being loaded."
	f.Because = []string{c.growthSeen(), "the goroutines became no more", "what the memory was for is not known"}
	if span >= 30 {
		f.Confidence = Medium
	}
	f.Why = []Why{{Text: fmt.Sprintf("%s, from %s to %s", c.growthSeen(), fsize(k.first), fsize(k.last)), Evidence: []string{"curve"}}}
	return f
}

// restingFound is growth that came to rest, at a line whose memory is kept by its
// nature: the next such work adds to it.
func restingFound(c *Case, facts []Fact) Finding {
	k, s := c.curve, c.site
	full := c.lastBefore(2 * c.outcome.Elapsed / 3)
	f := Finding{Stance: Speaks, Bytes: sample.Bytes(k.last - k.first), Facts: facts, Confidence: Medium, Culprit: culprit(s, "allocates")}
	f.Sentence = fmt.Sprintf("The live heap%s grew from %s to %s in the first %s; %s later %s were still held, %s of it allocated at %s.",
		c.of(), fsize(k.first), fsize(full.live), seconds(full.at), seconds(k.points[len(k.points)-1].at-full.at), fsize(k.last), size(s.Bytes), place(s.File, s.Line))
	f.Detail = "A leak: what is allocated there is kept."
	f.Because = []string{"it was held long after the work had ended", fmt.Sprintf("%.0f%% of the line's bytes were ever freed", 100*c.freedShare()), "whether more of the same work adds to it was not seen"}
	if c.flight.call == noCall {
		f.Because[0] = "the memory outlived the calls that allocated it"
	}
	return f
}

// paceWords says how fast it grows, by time and by work.
func (c *Case) paceWords(g *Growth) string {
	text := fmt.Sprintf("it grew by %s over %s", g.byPace(), c.readings())
	if g.Kept != nil && *g.Kept > 0 {
		text += fmt.Sprintf("; %s of what was newly allocated stayed%s", share(*g.Kept), c.bending())
	}
	return text
}

// bending compares the part that stayed in the first and the second half of all
// that was allocated: what slows down may be a cache that fills up.
func (c *Case) bending() string {
	early, late, ok := c.halves()
	switch {
	case !ok:
		return ""
	case late < 0.5*early:
		return fmt.Sprintf(", less and less of it (%s, then %s)", share(early), share(late))
	case late > 0.8*early:
		return ", early and late alike"
	}
	return ""
}

// readings are what the live heap is known from: "12 collections", or "12 of 40
// collections" where the others ended unseen or were passed over.
func (c *Case) readings() string {
	switch {
	case len(c.Cycles) > 0 || c.Imported == "":
	case len(c.Held) > 0:
		return count(len(c.Held), "heap profile")
	case c.curve.exact:
		return "1 mark"
	}
	all := len(c.Cycles)
	for _, g := range c.Cycles[min(1, len(c.Cycles)):] {
		all += int(g.Missed)
	}
	if all > len(c.Cycles) {
		return fmt.Sprintf("%d of %s", len(c.Cycles), count(all, "collection"))
	}
	return count(all, "collection")
}

// growthSeen says how the live heap grew: at every collection, or under the
// unrest of work in flight.
func (c *Case) growthSeen() string {
	n := c.readings()
	if c.curve.drop > c.curve.significant() {
		return "the floor of the live heap rose over " + n
	}
	return "growth after each of " + n
}

// leakConfidence is high where the memory was seen to outlive its calls, over
// enough collections, at a line that frees next to nothing.
func leakConfidence(c *Case) (Confidence, []string) {
	because := []string{c.growthSeen()}
	strong := c.flight.call == noCall
	if strong {
		because = append(because, "the memory outlived the calls that allocated it")
	} else {
		because = append(because, "no call was seen to end and leave its memory behind")
	}
	if c.freedShare() < 0.1 {
		because = append(because, "next to nothing of it was freed")
	} else {
		strong = false
	}
	if c.flight.loop {
		because = append(because, "one goroutine stayed inside a caller all the time")
		strong = false
	}
	if float64(c.site.Growth) < 0.2*(c.curve.last-c.curve.first) {
		because, strong = append(because, "no line holds a fifth of the growth: the one that is named holds most of all"), false
	}
	if c.slowsDown() {
		because, strong = append(because, "its growth slows down while the program goes on allocating, as in a cache that fills up"), false
	}
	if c.stillFilling() {
		alike := fmt.Sprintf("it grew from its start and ended after %s, as a cache or a data set that fills up does", seconds(c.outcome.Elapsed))
		if c.Imported != "" {
			alike = fmt.Sprintf("it was seen for %s only, and grew all that time, as a cache or a data set that fills up does", seconds(c.outcome.Elapsed))
		}
		because, strong = []string{alike, because[1]}, false
	}
	switch {
	case strong && c.curve.trend.N >= 8:
		return High, because
	case c.curve.trend.N >= 5:
		return Medium, because
	}
	return Low, because
}
