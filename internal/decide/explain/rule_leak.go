package explain

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

var leakPage = Page{
	Truth: "The live heap grows with work or time, and no GC brings it down.",
	Looks: []string{
		"The live heap at each GC, at each capture of the heap, and at the moment: how many readings there are, whether they rise, and whether they still rise in the last third of the time.",
		"The line that grew most in the second half of the rise: how much of what this line allocated was freed, and how much of its live memory is older than half of the run.",
		"What retains that memory: a variable, frames of calls in flight, or a sync.Pool. Whether calls ended and their memory stayed.",
	},
	Blind: []string{
		"A program that was killed within seconds: where it waited between pieces of work, or its calls returned and left their memory behind, the answer says leak with low confidence.",
		"Growth that slows down within a minute and has met no limit may be that of a cache that comes to its bound. It is left undecided.",
		"A cache or a data set that is still being filled looks the same. If one call was allocating without a pause when the program was killed, the answer does not say leak.",
		"Growth per unit of work, if no counter of the work was recorded. Growth is then measured per byte allocated.",
	},
	Example: "slow leak, still running",
}

// leakEvidence is what speaks for and against a leak, where the live heap grew.
var leakEvidence = []clause{
	over("growth.readings", enoughReadings, 1, ""),
	over("growth.readings", manyReadings, 0.5, ""),
	over("growth.seconds", longRise, 0.5, ""),
	over("growth.seconds", longRun, 4, ""),
	under("growth.seconds", shortestRise, -1.5, doubtShortRise),
	under("growth.seconds", longestFirstRise, -1, doubtFirstRise),
	over("growth.late", goneOnGrowing, 0.5, ""),
	under("growth.late", lateGrowth, -6, "the live heap stopped growing"),
	under("line.late", lateGrowth, -8, "the line allocated hardly anything at the end"),
	over("growth.unwatched", isSo, -3, doubtUnread),
	over("growth.fall", fellBack, -3, "the live heap fell back"),
	over("growth.gone", fellBack, -8, "most of that memory was gone soon after"),
	over("memory.flat", isSo, -4, "resident memory did not grow with the live heap"),
	over("live.untouched", heldByRoot, -6, "most of that memory was never written"),
	over("growth.slowing", isSo, -3, doubtSlowing),
	over("growth.sudden", isSo, -4, "nearly all of the growth came at once"),
	over("calls.left", leftBehind, 2, "the memory outlived the calls that allocated it"),
	over("calls.open", isSo, -2.5, doubtOpenCalls),
	over("calls.gather", gathering, 6, "calls began one after the other, and none was seen to end"),
	over("calls.one", isSo, -5, doubtOneCall),
	over("calls.follow", followsCalls, -1, "the memory rose and fell with the number of calls in flight"),
	over("line.aged", agedHalf, 0.5, "much of that memory is older than half of the run"),
	under("line.freed", freedLittle, 1, "hardly any of that memory was freed"),
	over("line.turnover", turnedOver, -1, "what the line had allocated half-way through the run was freed later"),
	over("line.passing", heldByRoot, -2, "most of what the line allocated was freed again"),
	over("line.kept", isSo, 6, "memory that is allocated at this line stays until something releases it"),
	over("root.lasting", heldByRoot, 1.5, "a long-lived variable retains the memory"),
	over("root.frames", heldByRoot, -4, "calls in flight retain the memory"),
	over("root.stacks", isSo, -4, "the stacks of many goroutines retain the memory"),
	over("root.returned", isSo, -2.5, "the call that retained the memory has returned"),
	over("root.pooled", heldByRoot, -4, "a sync.Pool retains the memory, and GC frees what no call takes from it"),
	over("holder.full", isSo, -5, "what retains the memory kept its number of entries while more were allocated: it is full"),
	over("queue.share", heldByRoot, -6, "a queue retains most of the memory: its items wait for a receiver"),
	over("run.paced", isSo, 2, "the program paused between pieces of work, and memory still grew"),
	over("run.flat_out", isSo, -2.5, "one call has allocated without a pause since the start, as a program does that loads its data"),
	over("run.crashed", isSo, -4, "the program crashed"),
	over("run.job", isSo, -5, doubtJob),
}

// judgeLeak weighs the evidence where the live heap grew by enough to speak of.
func judgeLeak(c *Case) Finding {
	facts := []Fact{c.factCurve()}
	if c.site != nil {
		facts = append(facts, c.factSite(), c.factCalls())
	}
	if c.seldomRead() {
		return minor("the live heap was "+readTimes(c.rise.n), facts[0]) // it is not ruled out
	}
	if reason := c.notGrowing(); reason != "" {
		return silent(reason, facts[0])
	}
	w := weigh(c.features, leakEvidence)
	if c.pressed && c.rise.n < int(fewestReadings.v()) && c.live.bytes > c.bound/4 {
		if w.score < openScore.v() {
			return minor(c.tooFew(), c.factLive()) // what little there is speaks against it
		}
		return undecided(float64(c.leakBytes()), c.tooFew(), c.factLive())
	}
	if !c.pressed && c.Crash != nil && c.Crash.Kind == panicked {
		return silent("a panic ended the program, and memory was not near its limit", facts...)
	}
	if f, not := c.noLeak(w, facts); not {
		return f
	}
	return leakFound(c, w, facts)
}

// noLeak is what is said of growth whose evidence does not make a leak, or that no line accounts for.
func (c *Case) noLeak(w weighed, facts []Fact) (f Finding, not bool) {
	switch {
	case w.score < openScore.v() || (c.endedWell() || c.crashed()) && w.score < speakScore.v():
		return silent(first(w.against(), "the live heap did not grow as a leak does"), facts...), true
	case w.score < speakScore.v() || c.unmarked() > 0.5 && w.score < speakScore.v()+mediumMargin.v():
		return undecided(float64(c.leakBytes()), c.stillOpen(w), facts...), true
	case c.isResult():
		return undecided(float64(c.leakBytes()), fmt.Sprintf("whether the live heap would have kept growing: one call of %s made and retained it, the program was not seen to serve anybody and ended by itself",
			ShortFunc(c.inFlight.name)), facts...), true
	case c.fillsUp():
		return undecided(float64(c.leakBytes()), c.stillOpen(weighed{fired: []clause{{weight: -1, words: doubtSlowing}}}), facts...), true
	case c.barelyRose():
		return undecided(c.rise.grown, fmt.Sprintf("whether the live heap keeps growing: a program that settles gains as much as %s in %s, too", fsize(c.rise.grown),
			seconds(c.rise.to-c.rise.from)), facts...), true
	case c.hardlyWatched():
		return undecided(c.rise.grown, fmt.Sprintf("whether the live heap keeps growing: no sample was taken for %s of the %s in which it grew by %s",
			seconds(c.unseen(c.rise.from, c.rise.to)), seconds(c.rise.to-c.rise.from), fsize(c.rise.grown)), facts...), true
	}
	if c.site == nil || c.explains() {
		return Finding{}, false
	}
	return c.ofNoLine(facts), true
}

// ofNoLine is what is said of growth that no line of the profile shows.
func (c *Case) ofNoLine(facts []Fact) Finding {
	if c.endedWell() || c.neverShort() {
		return silent("no line of the heap profile grew with the live heap", facts...)
	}
	return undecided(float64(c.leakBytes()), fmt.Sprintf("what made the live heap grow by %s: no line of the heap profile grew with it", fsize(c.rise.grown)),
		facts...)
}

// barelyRose reports whether, without need, little came in many seconds, but less than a minute: buffers and tables
// that reach their size do the same.
func (c *Case) barelyRose() bool {
	took := c.rise.to - c.rise.from
	return !c.pressed && c.rise.grown < smallRise.v() && took >= slowRise.v() && took < longestFirstRise.v()
}

// hardlyWatched reports whether, without need, there are few readings of a growth of seconds, and no sample of half of
// them: a program that fills its memory at the start and then rests looks so to a watcher that a busy machine keeps from its work.
func (c *Case) hardlyWatched() bool {
	took := c.rise.to - c.rise.from
	return !c.pressed && c.rise.n < int(manyReadings.v()) && took < longestFirstRise.v() && c.unseen(c.rise.from, c.rise.to) >= took/2
}

// cachePackage is a type of a package that is called after caches: "*lru.Cache[string,*page]", "(*lru.Cache).cache".
var cachePackage = regexp.MustCompile(`(?i)\b\w*(lru|lfu|cache|ristretto)\w*\.`)

// keptByCache reports whether a cache has what grew: not what a job is for, and bounded, if the cache has a bound.
func (c *Case) keptByCache() bool {
	h := c.retainerOf(c.site)
	return h != nil && cachePackage.MatchString(h.Title)
}

// fillsUp reports whether, without need, growth became slower within its first minute: so does that of a cache that
// comes to its bound.
func (c *Case) fillsUp() bool {
	return !c.pressed && c.slowsDown() && !c.retainsByDesign() && c.rise.to-c.rise.from < longestFirstRise.v()
}

// leakBytes is how much of the memory a leak explains.
func (c *Case) leakBytes() sample.Bytes {
	grown := sample.Bytes(max(0, max(c.rise.grown, float64(c.live.bytes)-c.rise.first)))
	if c.pressed && c.live.exact {
		return min(grown, c.liveRows()) // what has no page is charged to nobody
	}
	return grown
}

// seldomRead reports whether there are too few readings to tell growth, and no limit that was hit.
func (c *Case) seldomRead() bool {
	known := c.g != nil || c.Imported != "" && c.rise.n > 0
	return known && c.rise.n < int(fewestReadings.v()) && !(c.pressed && c.live.bytes > c.bound/4)
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
	case !r.grownMuch():
		return fmt.Sprintf("the live heap did not grow: %s after the warm-up, %s at the end", fsize(r.first), fsize(r.last))
	case c.pressed && r.grown < leastGrownOfLimit.v()*float64(c.bound):
		return fmt.Sprintf("the live heap grew by only %s", fsize(r.grown))
	case !(r.low > 0) && !c.memoryRose() && !r.onlyRose():
		return "the live heap shows no steady growth"
	}
	return ""
}

// onlyRose reports whether many readings gave next to nothing back, and most of what was live in the end came between
// them: so uneven a rise has no interval of its pace, and is one all the same.
func (r *rise) onlyRose() bool {
	return r.n >= int(manyReadings.v()) && r.fall < flatShare.v() && r.grown >= heldByRoot.v()*r.last
}

// memoryRose reports whether resident memory, which is read far more often, rose in several steps until the kill and
// gave nothing back: one value that doubles its array as it grows makes few and uneven readings of the live heap.
func (c *Case) memoryRose() bool {
	if !c.outcome.Kernel || c.rise.fall >= fellBack.v() {
		return false
	}
	steps, high := 0, 0.0
	hard := c.hard()
	for i, at := range c.Ticks.At {
		if at < c.rise.from || at > c.outcome.MomentElapsed || math.IsNaN(hard[i]) {
			continue
		}
		switch step := flatShare.v() * c.rise.grown; {
		case high == 0:
			high = hard[i]
		case hard[i] > high+step:
			steps, high = steps+1, hard[i]
		case hard[i] < high-step:
			return false
		}
	}
	return steps >= int(fewestReadings.v())
}

// tooFew says that there are too few readings to tell growth.
func (c *Case) tooFew() string {
	return "the live heap was " + readTimes(c.rise.n) + ": too seldom to see whether it grows"
}

// stillOpen says why growth may be a leak, and may not.
func (c *Case) stillOpen(w weighed) string {
	why := first(w.against(), "too little of the growth was seen")
	return fmt.Sprintf(openGrowth+": it grew by %s in %s, but %s", fsize(c.rise.grown), seconds(c.rise.to-c.rise.from), why)
}

func leakFound(c *Case, w weighed, facts []Fact) Finding {
	r := &c.rise
	f := Finding{Stance: Speaks, Bytes: c.leakBytes(), Score: w.score, Facts: facts, Confidence: w.confidence()}
	f.Sentence = fmt.Sprintf("%s grew from %s to %s in %s, and no GC brought it down", c.whatGrew(), fsize(r.first), fsize(r.last), seconds(r.to-r.from))
	if c.site == nil {
		f.Sentence += ". No heap profile shows at which line."
		f.Confidence = Low
	} else {
		f.Culprit = culprit(c.site, "allocates")
		f.Sentence += fmt.Sprintf(". %s of the live heap was allocated at %s and %s.", c.lineOf(), place(c.site.File, c.site.Line), c.held(c.site))
	}
	f.Sentence += c.unchargedWords()
	c.doubtLeak(&f, &w)
	if f.Detail = "A leak."; f.Confidence != High {
		f.Detail = "Probably a leak."
	}
	if f.Confidence == Low && c.endedJob() {
		f.Detail = "A leak, or what the job keeps for its result."
	}
	f.Because = append([]string{fmt.Sprintf("%s in %s", c.readings(), seconds(r.to-r.from))}, w.because()...)
	f.Because = append(f.Because, w.against()...)
	f.Why = []Why{{Text: fmt.Sprintf("the live heap rose over %s%s", strings.TrimSuffix(c.readings(), afterReadings), c.keptWords(nil)),
		Evidence: []string{"curve", "site"}}}
	c.blameMaker(&f)
	if g := c.run.Growth; g != nil && g.Low > 0 && g.Low <= 2*3600*r.grown/(r.to-r.from) { // else it slowed down
		c.addPace(&f, g)
	}
	return f
}

// doubtLeak lowers the confidence by what looks like a leak and may be none, and adds why.
func (c *Case) doubtLeak(f *Finding, w *weighed) {
	r := &c.rise
	if r.to-r.from < shortestRise.v() {
		f.Confidence = Low // a program that loads its data, or fills a cache, grows like this
	}
	if f.Confidence == High && r.to-r.from < longestFirstRise.v() {
		c.doubtFirst(f, w)
	}
	if c.isOfJob() {
		f.Confidence = Low
		w.fired = append(w.fired, clause{weight: -1, words: doubtResult})
	}
	if one := c.inFlight.one; one != nil && one.ended == 0 && !(c.kept.lasting >= heldByRoot.v()) {
		f.Confidence = Low
		w.fired = append(w.fired, clause{weight: -1, words: doubtInOneCall})
	}
}

// doubtFirst lowers the confidence in a leak that was seen for less than a minute.
func (c *Case) doubtFirst(f *Finding, w *weighed) {
	calm := !c.pressed && !c.retainsByDesign()
	switch {
	case calm && c.rise.grown < smallPeak.v():
		f.Confidence = Medium // a cache that fills, however evenly, looks the same until it is full
	case calm && c.endedWell() && !c.Watched && c.Load == "" && !c.isOfJob(): // of a job's growth more is said
		f.Confidence = Medium
		w.fired = append(w.fired, clause{weight: -1, words: doubtEnded})
	case c.keptByCache():
		f.Confidence = Medium
		w.fired = append(w.fired, clause{weight: -1, words: doubtFirstRise})
	}
}

// unchargedWords say how much of a live heap that is larger than the memory charged has no page behind it, "" where it is not larger.
func (c *Case) unchargedWords() string {
	if untouched := c.pageless(); untouched > 0 && c.rise.last > c.hardPeak() {
		return fmt.Sprintf(" Of this heap, %s was not written yet, so the kernel does not count it.", size(untouched))
	}
	return ""
}

// whatGrew is the live heap, or what a line allocated of it where that is what was seen to grow.
func (c *Case) whatGrew() string {
	if c.ofLine && c.site != nil {
		return fmt.Sprintf("What was allocated at %s%s and is live", place(c.site.File, c.site.Line), c.of())
	}
	return "The live heap" + c.of()
}

// addPace says how fast it grew, and when that reaches the limit.
func (c *Case) addPace(f *Finding, g *Growth) {
	f.Facts = append(f.Facts, c.factRun())
	f.Why[0] = Why{Text: fmt.Sprintf("the live heap grew by %s over %s%s", g.byPace(), strings.TrimSuffix(c.readings(), afterReadings), c.keptWords(g.Kept)),
		Evidence: []string{"curve", "run", "site"}}
	if left := g.untilLimit(); left != "" && c.outcome.State != Exited && !c.outcome.Kernel {
		f.Sentence += fmt.Sprintf(" At this rate memory usage reaches the limit of %s in %s.", limit(c.limit), left)
	}
}

// lineOf is how much of the live heap the blamed line holds, in words.
func (c *Case) lineOf() string {
	if float64(c.site.Bytes) > 0.98*c.rise.last { // within the error of the sampling
		return "Nearly all"
	}
	if c.site.Bytes == 0 { // the last profile is older
		return "Some"
	}
	return size(c.site.Bytes)
}

// keptWords say how much stayed of what the program allocated, and of what the blamed line did.
func (c *Case) keptWords(kept *float64) string {
	all, line := kept != nil && *kept > 0, c.site != nil && !math.IsNaN(c.freedShare())
	stayed := func(v float64) string {
		if v >= nearlyAll {
			return "nearly all"
		}
		return share(v) + " of"
	}
	switch {
	case all && (*kept >= nearlyAll || !line):
		return fmt.Sprintf(". %s new memory stayed", capital(stayed(*kept)))
	case all:
		return fmt.Sprintf(". %s all new memory stayed, and %s of this line's", capital(stayed(*kept)), strings.TrimSuffix(stayed(1-c.freedShare()), " of"))
	case line:
		return fmt.Sprintf(". %s new memory of this line stayed", capital(stayed(1-c.freedShare())))
	}
	return ""
}

// nearlyAll is what is said in words, within the error of the sampling.
const nearlyAll = 0.98

// readings are what the live heap is known from: "12 GCs", or where heaps were captured
// between them "15 readings of the live heap".
func (c *Case) readings() string {
	switch {
	case len(c.Cycles) > 0 || c.Imported == "" && len(c.Captures) == 0:
	case len(c.Held) > 0:
		return count(len(c.Held), "heap profile")
	case len(c.Captures) > 0:
		return count(len(c.Captures), "heap capture")
	case c.curve.exact:
		return "1 reading"
	}
	if n := c.rise.n; n > len(c.Cycles) && n > 1 {
		return fmt.Sprintf("%d readings", n) + afterReadings
	}
	return count(len(c.Cycles), "GC")
}

const afterReadings = " of the live heap"

// culprit is a line to blame; nil where the stack is not known.
func culprit(s *Site, role string) *Culprit {
	if s.Function == "" {
		return nil
	}
	return &Culprit{Place: s.Place, Bytes: s.Bytes, Role: role, Below: below(s)}
}

// below is the line of a library, called from the blamed one, that made the allocation; nil
// where the blamed line made it.
func below(s *Site) *sample.Place {
	for _, f := range s.Stack {
		if f.Func == s.Function {
			return nil
		}
		if heapdiff.OwnerOf(f.Func, "") != heapdiff.Runtime {
			place := f.Place()
			return &place
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
