package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/heapdiff"
	"github.com/highwater-go/highwater/internal/sample"
)

var leakPage = Page{
	Truth: "The live heap grows with work or time and does not come back.",
	Looks: []string{
		"What each GC, each capture of the heap and the mark at the moment found live: how many readings there are, whether they rise, and whether they still rise in the last third of the time.",
		"The line that grew most in the second half of the rise: how much of what its stacks allocated was freed, and how much of what it holds is older than half of the run.",
		"What retains that memory: a variable, or frames of calls in flight. Whether calls ended and left memory behind.",
	},
	Blind: []string{
		"A cache or a data set that is still being filled looks alike. A program that was killed while one call was still allocating flat out is not called a leak.",
		"Growth per unit of work where no counter of the work was recorded; it is then per byte allocated.",
	},
	Example: "slow leak, still running",
}

// leakEvidence is what speaks for and against a leak, where the live heap grew.
var leakEvidence = []clause{
	over("growth.readings", enoughReadings, 1, ""),
	over("growth.readings", manyReadings, 0.5, ""),
	over("growth.seconds", longRise, 0.5, ""),
	over("growth.seconds", longRun, 4, ""),
	under("growth.seconds", shortestRise, -1, "the rise took less than 3 s"),
	under("growth.seconds", longestFirstRise, -1, "it was seen for less than a minute: a cache that is still filling looks the same"),
	over("growth.late", goneOnGrowing, 0.5, ""),
	under("growth.late", lateGrowth, -6, "the live heap stopped growing"),
	under("line.late", lateGrowth, -8, "hardly anything was allocated at the line at the end"),
	over("growth.unwatched", isSo, -3, "the live heap was not read in the last third of the time"),
	over("growth.fall", fellBack, -3, "the live heap fell back"),
	over("memory.flat", isSo, -4, "resident memory did not grow with it"),
	over("live.untouched", heldByRoot, -6, "most of it was never written"),
	over("growth.slowing", isSo, -1, "the growth slows down, as in a cache that fills up"),
	over("calls.left", leftBehind, 2, "the memory outlived the calls that allocated it"),
	over("calls.open", isSo, -2.5, "calls that allocated it had not returned"),
	over("calls.follow", followsCalls, -1, "more calls in flight held more"),
	over("line.aged", agedHalf, 0.5, "much of it is older than half of the run"),
	under("line.freed", freedLittle, 1, "hardly any of it was freed"),
	over("line.turnover", turnedOver, -1, "what the line held half-way through was freed since"),
	over("line.kept", isSo, 6, "what is allocated there is kept until something releases it"),
	over("root.lasting", heldByRoot, 1.5, "a variable that lasts retains it"),
	over("root.frames", heldByRoot, -4, "frames of calls in flight retain it"),
	over("root.unknown", isSo, -1.5, "nothing shows what retains it"),
	over("run.paced", isSo, 2, "the program waited between pieces of work, and yet memory grew"),
	over("run.flat_out", isSo, -2.5, "one call had allocated flat out since the start, as a program does that loads its data"),
	over("run.crashed", isSo, -4, "the program crashed"),
	over("run.job", isSo, -5, "the program ended by itself, as a job does that keeps what it works on"),
}

// judgeLeak weighs the evidence where the live heap grew by enough to speak of.
func judgeLeak(c *Case) Finding {
	facts := []Fact{c.factCurve()}
	if c.site != nil {
		facts = append(facts, c.factSite(), c.factCalls())
	}
	if reason := c.notGrowing(); reason != "" {
		return silent(reason, facts[0])
	}
	if c.pressed && c.rise.n < int(fewestReadings.v()) && c.live.bytes > c.bound/4 {
		return undecided(float64(c.leakBytes()), c.tooFew(), c.factLive())
	}
	w := weigh(c.features, leakEvidence)
	switch {
	case w.score < openScore.v() || (c.endedWell() || c.crashed()) && w.score < speakScore.v():
		return silent(first(w.against(), "the live heap did not grow as a leak does"), facts...)
	case w.score < speakScore.v() || c.unmarked() > 0.5 && w.score < speakScore.v()+mediumMargin.v():
		return undecided(float64(c.leakBytes()), c.stillOpen(w), facts...)
	}
	return leakFound(c, w, facts)
}

// leakBytes is how much of the memory a leak explains.
func (c *Case) leakBytes() sample.Bytes {
	return sample.Bytes(max(0, max(c.rise.grown, float64(c.live.bytes)-c.rise.first)))
}

// notGrowing says why the growth is not worth speaking of, "" if it is. Where few readings
// were made under a limit that was hit, that is for judgeLeak to say.
func (c *Case) notGrowing() string {
	r := &c.rise
	switch {
	case c.g == nil && (c.Imported == "" || c.rise.n == 0):
		return "the live heap was not read"
	case c.pressed && r.n < int(fewestReadings.v()) && c.live.bytes > c.bound/4:
		return ""
	case r.n < int(fewestReadings.v()):
		return "the live heap was " + readTimes(r.n)
	case !r.grownMuch():
		return fmt.Sprintf("the live heap did not grow: %s after the warm-up, %s at the end", fsize(r.first), fsize(r.last))
	case c.pressed && r.grown < leastGrownOfLimit.v()*float64(c.bound):
		return fmt.Sprintf("the live heap grew by %s only", fsize(r.grown))
	case !(r.low > 0):
		return "the live heap shows no steady growth"
	}
	return ""
}

// tooFew says that there are too few readings to tell growth.
func (c *Case) tooFew() string {
	return "the live heap was " + readTimes(c.rise.n) + ": too seldom to see whether it grows"
}

// stillOpen says why growth may be a leak, and may not.
func (c *Case) stillOpen(w weighed) string {
	why := first(w.against(), "too little was seen of it")
	return fmt.Sprintf("the live heap grew by %s in %s; %s", fsize(c.rise.grown), seconds(c.rise.to-c.rise.from), why)
}

func leakFound(c *Case, w weighed, facts []Fact) Finding {
	r := &c.rise
	f := Finding{Stance: Speaks, Bytes: c.leakBytes(), Score: w.score, Facts: facts, Confidence: w.confidence()}
	f.Sentence = fmt.Sprintf("The live heap%s grew from %s to %s in %s, and no GC brought it down", c.of(), fsize(r.first), fsize(r.last), seconds(r.to-r.from))
	if c.site == nil {
		f.Sentence += "; no heap profile says at which line."
		f.Confidence = Low
	} else {
		f.Culprit = culprit(c.site, "allocates")
		f.Sentence += fmt.Sprintf(". %s of it was allocated at %s and %s.", c.lineOf(), place(c.site.File, c.site.Line), c.held(c.site))
	}
	f.Detail = "Cause: a leak."
	f.Because = append([]string{fmt.Sprintf("%s in %s", c.readings(), seconds(r.to-r.from))}, w.because()...)
	f.Because = append(f.Because, w.against()...)
	f.Why = []Why{{Text: fmt.Sprintf("the live heap rose over %s; %.0f%% of what the line allocated was ever freed", c.readings(), 100*c.freedShare()), Evidence: []string{"curve", "site"}}}
	if g := c.run.Growth; g != nil && g.Low > 0 {
		f.Facts = append(f.Facts, c.factRun())
		f.Why[0] = Why{Text: fmt.Sprintf("%s; %.0f%% of what the line allocated was ever freed", c.paceWords(g), 100*c.freedShare()), Evidence: []string{"curve", "run", "site"}}
		if left := g.untilLimit(); left != "" && c.outcome.State != Exited && !c.outcome.Kernel {
			f.Sentence += fmt.Sprintf(" At this rate memory usage reaches the limit of %s in %s.", limit(c.limit), left)
		}
	}
	return f
}

// lineOf is how much of the live heap the blamed line holds, in words.
func (c *Case) lineOf() string {
	if float64(c.site.Bytes) > 0.98*c.rise.last { // within the error of the sampling
		return "Nearly all"
	}
	return size(c.site.Bytes)
}

// paceWords says how fast it grows, by time and by work.
func (c *Case) paceWords(g *Growth) string {
	text := fmt.Sprintf("the live heap grew by %s over %s", g.byPace(), c.readings())
	if g.Kept != nil && *g.Kept > 0 {
		text += fmt.Sprintf("; %s of what was newly allocated stayed", share(*g.Kept))
	}
	return text
}

// readings are what the live heap is known from: "12 GCs", or "12 of 40 GCs" where
// the others ended unseen or were passed over.
func (c *Case) readings() string {
	switch {
	case len(c.Cycles) > 0 || c.Imported == "" && len(c.Captures) == 0:
	case len(c.Held) > 0:
		return count(len(c.Held), "heap profile")
	case len(c.Captures) > 0:
		return count(len(c.Captures), "heap capture")
	case c.curve.exact:
		return "1 mark"
	}
	all := len(c.Cycles)
	for _, g := range c.Cycles[min(1, len(c.Cycles)):] {
		all += int(g.Missed)
	}
	if all > len(c.Cycles) {
		return fmt.Sprintf("%d of %s", len(c.Cycles), count(all, "GC"))
	}
	return count(all, "GC")
}

// culprit is a line to blame; nil where the stack is not known.
func culprit(s *Site, role string) *Culprit {
	if s.Function == "" {
		return nil
	}
	return &Culprit{Function: s.Function, File: s.File, Line: s.Line, Bytes: s.Bytes, Role: role, Below: below(s)}
}

// below is the line of a library, called from the blamed one, that made the allocation; nil
// where the blamed line made it.
func below(s *Site) *Place {
	for _, f := range s.Stack {
		if f.Func == s.Function {
			return nil
		}
		if heapdiff.OwnerOf(f.Func, "") != heapdiff.Runtime {
			return &Place{f.Func, f.File, f.Line}
		}
	}
	return nil
}

// readTimes says how often something was read.
func readTimes(n int) string {
	switch n {
	case 0:
		return "never read"
	case 1:
		return "read only once"
	case 2:
		return "read only twice"
	}
	return fmt.Sprintf("read %d times", n)
}

func first(list []string, without string) string {
	if len(list) == 0 {
		return without
	}
	return list[0]
}
