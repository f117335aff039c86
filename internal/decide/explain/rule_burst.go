package explain

import (
	"fmt"
	"math"
	"path"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var burstPage = Page{
	Truth: "The live heap is high only while concurrent work, or one huge value, is in flight.",
	Looks: []string{
		"How far the live heap was above its floor at the moment: against the limit, or where no limit is near, against the usual size of the memory.",
		"What retains the memory: frames of calls in flight, a sync.Pool, or another variable.",
		"Whether more calls needed more memory, whether the memory was freed before, and how much of what the line allocated was freed.",
		"Whether it was allocated for requests that were still being served, or for a value that a function such as io.ReadAll was putting together.",
	},
	Blind: []string{
		"The stacks of goroutines that ran at the very moment: then it says \"at least\".",
		"A program killed in its first rise: no return was seen, and the confidence is lower.",
	},
	Example: "burst of uploads",
}

// burstEvidence is what speaks for and against a burst, where the live heap was far above
// its floor.
var burstEvidence = []clause{
	over("root.frames", heldByRoot, 3, "calls in flight retain the memory"),
	over("root.pooled", heldByRoot, 3, "a sync.Pool retains the memory, which calls took from it and gave back"),
	over("root.lasting", heldByRoot, -2.5, "a long-lived variable retains the memory"),
	over("calls.open", isSo, 1.5, doubtOpenCalls),
	over("calls.now", manyCalls, 1, ""),
	over("calls.none", isSo, -2.5, "no call was in flight"),
	over("calls.request", isSo, 1.5, "the memory was allocated for requests that were still being served"),
	over("calls.gather", gathering, -5, "calls began one after the other, and none was seen to end"),
	over("calls.one", isSo, 5, doubtOneCall),
	over("calls.reserve", isSo, 4, "calls in flight reserved memory that they did not write"),
	over("calls.follow", followsCalls, 1.5, "the memory rose and fell with the number of calls in flight"),
	over("calls.left", leftBehind, -3, "the memory outlived the calls that allocated it"),
	over("calls.standing", isSo, -1.5, "the same calls were in flight before the rise"),
	over("calls.even", isSo, -5, "the live heap grew to the end, and the number of calls did not"),
	over("line.freed", freedMuch, 1, "much of what the line allocated was freed again"),
	over("line.turnover", turnedOver, 1, "what the line had allocated half-way through the run was freed later"),
	over("line.turnover", manyTimes, 3.5, "what the line holds was freed many times over"),
	over("line.whole_values", one, 3, "a large value was still being built"),
	over("growth.returns", one, 2, "the live heap fell back after an earlier rise"),
	over("growth.fall", fellBack, 0.5, ""),
	over("growth.gone", fellBack, 4, "most of that memory was gone soon after"),
	over("growth.sudden", isSo, 2, "nearly all of the growth came at once"),
}

// judgeBurst weighs the evidence where the live heap was far above a floor that it kept or
// came back to.
func judgeBurst(c *Case) Finding {
	if f, deep := c.deepStackFound(); deep {
		return f
	}
	if f, found := c.passedValues(); found {
		return f
	}
	if f, not := c.noSpike(); not {
		return f
	}
	if c.site == nil {
		return undecided(0, "which line the rise belongs to, "+noProfile, c.factCurve())
	}
	w := weigh(c.features, burstEvidence)
	facts := []Fact{c.factCurve(), c.factSite(), c.factCalls()}
	bytes := min(max(sample.Bytes(c.aboveFloor()), c.inWork()), c.burstRoom())
	if c.reserves() {
		bytes += c.waste() // which piled up below the goal that the reserved memory set
	}
	if f, not := c.noBurst(w, bytes, facts); not {
		return f
	}
	f := burstFound(c)
	if n := c.wholeValues(); n > 0 {
		f = wholeFound(c, n)
	}
	f.Bytes, f.Score, f.Facts = max(bytes, min(f.Bytes, c.heap())), w.score, facts
	f.Confidence, f.Because = w.confidence(), append(w.because(), w.against()...)
	if doubt := c.burstDoubt(); doubt != "" && f.Confidence == High {
		f.Confidence, f.Because = Medium, append([]string{doubt}, f.Because...)
	}
	if c.noneEnded() {
		f.Confidence, f.Because = Low, append([]string{doubtNoneEnded}, f.Because...)
	}
	return f
}

// noneEnded reports whether in a short life one call began after the other and none was seen to end: they may be slow,
// and may never end.
func (c *Case) noneEnded() bool {
	return c.inFlight.gather > 0 && c.inFlight.gather < shortestRise.v() && c.outcome.Kernel
}

// noBurst is what is said of a rise whose evidence makes no burst, or that no call was seen to have caused; bytes
// is what it would explain.
func (c *Case) noBurst(w weighed, bytes sample.Bytes, facts []Fact) (f Finding, not bool) {
	bar := speakScore.v()
	if !c.outcome.Kernel {
		bar += mediumMargin.v() // nothing came of it
	}
	switch {
	case w.score < openScore.v() || !c.outcome.Kernel && w.score < bar:
		return silent(first(w.against(), fmt.Sprintf("no call of %s was seen to retain the memory", ShortFunc(c.inFlight.name))), facts...), true
	case w.score < speakScore.v():
		return undecided(float64(bytes), c.openCalls(), facts...), true
	case c.ofLittle():
		return silent(fmt.Sprintf("%s allocated only a small part of what was live", place(c.site.File, c.site.Line)), facts...), true
	case c.inFlight.calls == 0 && c.wholeValues() == 0 && !c.cameAndWent() && !c.oneCallEnded() && !(c.kept.frames >= heldByRoot.v()):
		if !c.pressed && c.inFlight.read {
			return silent("no call was seen to retain the memory, and nothing came of the peak", facts...), true
		}
		return undecided(float64(bytes), "which calls retained the memory: none of them was seen", facts...), true
	}
	return Finding{}, false
}

// burstDoubt is why a burst is not sure, "" if it is.
func (c *Case) burstDoubt() string {
	switch seen := max(c.inFlight.held, c.site.Bytes); {
	case !c.pressed:
		return doubtHarmless
	case float64(seen)*2 < c.aboveFloor() && c.wholeValues() == 0:
		return doubtSmallLine
	}
	return ""
}

// cameAndWent reports whether most of the live heap was gone at a later reading, and the blamed line's memory
// comes and goes too; or that of the line did many times.
func (c *Case) cameAndWent() bool {
	return c.turnover() >= manyTimes.v() || c.gone() >= fellBack.v() && (c.site.swing() > 0 || c.freedShare() >= freedMuch.v())
}

// ofLittle reports whether the blamed line, with all that its calls hold, is too small a part of the rise to
// have caused it.
func (c *Case) ofLittle() bool {
	held := max(c.inFlight.held, c.site.Bytes)
	if !c.live.exact {
		held += c.site.Since
	}
	part := blamedPart.v()
	if !c.pressed && (c.inFlight.calls == 0 || c.inFlight.standing && c.inFlight.calls == 1) && c.wholeValues() == 0 {
		part = heldByRoot.v() // nothing came of it, and no call tells whose it was, or one that was there all along
	}
	return float64(held) < part*c.aboveFloor()
}

// reserves reports whether calls in flight reserved most of the live heap and did not write it: the kernel does not
// count that, but the collector's goal does, and garbage piles up below it.
func (c *Case) reserves() bool {
	return c.untouched()*2 >= c.live.bytes && c.live.bytes > 0 && float64(c.inFlight.calls) >= manyCalls.v() &&
		float64(c.inFlight.held) >= heldByRoot.v()*float64(c.live.bytes)
}

// burstRoom is the most that work in flight can explain of the memory: what has pages, and is no garbage where
// a mark tells.
func (c *Case) burstRoom() sample.Bytes {
	if c.live.exact {
		return c.liveRows()
	}
	return c.heap()
}

// noSpike is what is said where the live heap was not far above its floor.
func (c *Case) noSpike() (f Finding, not bool) {
	switch {
	case !c.pressed && (!c.spiked() || c.endedWell() && c.limit > 0):
		return silent("memory usage stayed well below the limit", c.factOutcome()), true
	case !c.pressed && c.isOneJob():
		return silent("the call that used the memory is the whole work of a program that ended by itself, and no limit was near", c.factOutcome(), c.factCalls()), true
	case len(c.curve.points) == 0 || c.g == nil:
		return silent("the live heap was not read"), true
	case c.aboveFloor() < c.leastRise():
		return silent(fmt.Sprintf("at the %s the live heap was only %s above its lowest level", c.momentName(), fsize(c.aboveFloor())), c.factCurve()), true
	}
	return Finding{}, false
}

// isOneJob reports whether the program ended by itself with what one call had done that was in flight all along, and
// that was not putting together one value: it needs what it needs.
func (c *Case) isOneJob() bool {
	return c.isJob() && c.inFlight.standing && c.inFlight.calls == 1 && c.wholeValues() == 0
}

// openCalls is what is not known where calls in flight may have caused the rise.
func (c *Case) openCalls() string {
	if c.inFlight.calls == 0 {
		return "whether work in flight retained the memory: the live heap never fell"
	}
	return fmt.Sprintf("whether %s of %s in flight would have freed the memory: the live heap never fell", count(c.inFlight.calls, "call"),
		ShortFunc(c.inFlight.name))
}

// spiked reports whether without a limit that was near the peak was far above the usual
// size of the memory.
func (c *Case) spiked() bool {
	if c.limit > 0 && c.hardPeak() < heldByRoot.v()*float64(c.limit) {
		return false
	}
	usual := c.inFlight.standing && c.inFlight.calls > 1 && float64(c.rise.returns) >= fewestReadings.v() // all the time, and no call comes and goes with it
	high := c.spikeRatio() >= spikeOverFloor.v() || c.liveSpike() >= spikeOverFloor.v() && !usual
	return c.At != "last" && high && c.hardPeak() >= leastSpike.v()
}

// liveSpike is how often what stays goes into the most that was live: the least that was ever live, or what calls in
// flight do not hold.
func (c *Case) liveSpike() float64 {
	stays := c.curve.min
	if rest := float64(c.live.bytes) - float64(c.inWork()); rest > 0 {
		stays = min(stays, rest)
	}
	if stays <= 0 {
		return 0
	}
	return max(float64(c.live.bytes), c.curve.max) / stays
}

// leastRise is how far above its floor the live heap must be.
func (c *Case) leastRise() float64 {
	if c.pressed {
		return leastRise.v() * float64(c.bound.Sub(c.others()))
	}
	return max(leastSpike.v()/2, leastRise.v()*c.hardPeak())
}

// aboveFloor is how far the live heap was above its floor at the moment. Where no
// mark was made, what calls in flight may hold of the new memory counts; where the
// first GCs went unseen, what work in flight holds is part of no floor.
func (c *Case) aboveFloor() float64 {
	high := float64(c.live.bytes)
	if !c.live.exact && c.site != nil && c.inFlight.calls > 0 {
		high = max(high, min(float64(c.g.HeapLive), float64(c.inFlight.held+c.site.Since)))
	}
	above := high - c.curve.floor
	if !c.pressed {
		above = high - c.curve.min
	}
	if c.site != nil && c.gone() >= fellBack.v() {
		swing := min(c.site.swing(), float64(c.heap())) // an earlier collection found it live
		if c.live.exact {
			swing = min(swing, float64(c.site.Bytes))
		}
		above = max(above, swing)
	}
	if c.kept.frames >= heldByRoot.v() && c.heapAtMoment() {
		above = max(above, min(high, c.kept.frames*float64(c.kept.of))) // frames of calls hold it, whatever floor there was
	}
	if c.beganUnseen() || len(c.curve.points) == 1 {
		above = max(above, min(high, float64(c.inWork())))
	}
	return above
}

// gone is how much of what the live heap was above its floor, at most, was gone again at a later
// reading. NaN: there is none.
func (c *Case) gone() float64 {
	most, least := 0.0, math.NaN()
	for _, p := range c.curve.points {
		switch {
		case p.least:
		case p.live > most:
			most, least = p.live, math.NaN()
		case !(p.live > least):
			least = p.live
		}
	}
	return (most - least) / (most - c.curve.min)
}

// inWork is what requests in flight, or values that are being put together, hold.
func (c *Case) inWork() sample.Bytes {
	switch {
	case c.site == nil:
		return 0
	case c.wholeValues() > 0:
		return c.site.Bytes
	case c.inFlight.calls > 0 && !c.inFlight.standing, c.oneCallEnded():
		return c.inFlight.held
	}
	return 0
}

// beganUnseen reports whether the first collection that was seen was not the program's first, and
// found half of all that was ever live: how the live heap came there is not known.
func (c *Case) beganUnseen() bool {
	return c.curve.first*2 >= c.curve.max && (len(c.Cycles) == 0 || c.Cycles[0].N > 1)
}

func burstFound(c *Case) Finding {
	s := c.site
	f := Finding{Stance: Speaks, Detail: c.burstDetail(), Culprit: culprit(s, "allocates")}
	if s.Awaited != nil {
		f.Culprit = &Culprit{Place: s.Awaited.Place, Bytes: s.Bytes, Role: "retains"}
	}
	if c.oneCallEnded() {
		f.Sentence = c.oneCallWords()
		return f
	}
	f.Sentence = burstSentence(c)
	f.Why = []Why{{Text: "the calls were running, so their stacks could not be read", Evidence: []string{"calls", "site"}}}
	if c.inFlight.calls == 0 {
		if c.cameAndWent() {
			f.Why = []Why{{Text: "the live heap rose and fell again, and so did what this line allocates", Evidence: []string{"curve", "site"}}}
		}
		return f
	}
	f.Why = []Why{{Text: fmt.Sprintf("%s %s inside %s %s", count(c.inFlight.calls, "goroutine"), was(c.inFlight.calls), ShortFunc(c.inFlight.name),
		c.callsSeen("at the "+c.momentName())) + c.callsWait(), Evidence: []string{"calls", "site"}}}
	return f
}

// callsWait says where most of the calls in flight wait, and for what, "" where they do not wait at one line of the program.
func (c *Case) callsWait() string {
	n, most := c.mostWait()
	calls := "All " + count(c.inFlight.calls, "call")
	if n < 2 || n*2 <= c.inFlight.calls {
		return ""
	}
	if n < c.inFlight.calls {
		calls = fmt.Sprintf("%s of the %s", sample.Thousands(uint64(n)), count(c.inFlight.calls, "call"))
	}
	return fmt.Sprintf(". %s waited at %s:%d (%s)", calls, path.Base(most.at.File), most.at.Line, most.reason)
}

// What kind of burst it was: of calls at the same time, of one call, or of memory that no call was seen to hold.
const (
	manyDetail  = "A burst of concurrent work, not a leak."
	callDetail  = "A burst of one call, not a leak."
	peakDetail  = "A peak that came and went, not a leak."
	swingDetail = "A peak of what comes and goes, not a leak." // a program that was killed at it had no time to let go
	largeDetail = "A burst of large values, not a leak."
)

func (c *Case) burstDetail() string {
	switch {
	case c.swingsElsewhere():
		return swingDetail
	case c.peakAlone():
		return peakDetail
	case c.oneCallEnded():
		return "Probably a burst of one call, not a leak." // no GC has shown that
	case c.inFlight.calls == 1 && c.inFlight.running == 0:
		return callDetail
	}
	return manyDetail
}

// peakAlone reports whether the memory is known to have gone again, and no call was seen to hold it.
func (c *Case) peakAlone() bool {
	return c.inFlight.calls == 0 && c.gone() >= fellBack.v() || c.swingsElsewhere()
}

// swingsElsewhere reports whether memory that came and went before is kept by what lasts, and not by the calls in flight: a
// library's queue that lets go of a whole part at once.
func (c *Case) swingsElsewhere() bool {
	return c.kept.lasting >= heldByRoot.v() && c.turnover() >= manyTimes.v() && !(c.inFlight.correlation >= followsCalls.v())
}
