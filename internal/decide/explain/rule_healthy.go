package explain

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var healthyPage = Page{
	Truth: "Nothing to do: memory usage stayed below the limit, and nothing grew towards it.",
	Looks: []string{
		"The peak of unreclaimable memory, against the limit.",
		"The line that allocated most, where much was allocated: it need not be wrong.",
		"Growth of the live heap with its 95 % interval, percentiles of memory usage, the share of GC in the CPU time, kills: of a long run these say \"stable\", or \"not long enough to tell\".",
	},
	Blind: []string{
		"What another load would do.",
		"Growth that is slower than the interval is wide; the interval is printed.",
	},
	Example: "a service that ran for a night",
}

// judgeHealthy speaks where nothing was near the limit and enough was read to say that
// nothing grew. Without a limit it says what the peak was.
func judgeHealthy(c *Case) Finding {
	f := healthyFound(c)
	if f.Stance != Speaks {
		return f
	}
	f.Sentence += c.stackSentence() + c.nativeSentence()
	if _, each, deep := c.deepStack(); deep {
		f.Sentence += fmt.Sprintf(" The stack of one goroutine had grown to %s, as deep recursion makes it.", size(each))
		if f.Confidence == High {
			f.Confidence, f.Because = Medium, append([]string{"what went deep was not caught"}, f.Because...)
		}
	}
	if p := c.overall(); p.gcShare() >= churnCost.v() && p.rate() >= churnRate.v() && p.seconds >= churnSeconds.v() && f.Confidence != Low {
		f.Confidence, f.Because = Low, append([]string{doubtCheaper}, f.Because...)
	}
	return f
}

// nativeSentence says that memory outside Go, where it is much, came to its height, "" else: no heap profile shows it.
func (c *Case) nativeSentence() string {
	native := c.own.Row(sample.RowNative)
	if !c.nativeRests() || float64(native) < max(leastGrown.v(), heldByRoot.v()*c.hardPeak()) {
		return ""
	}
	return fmt.Sprintf(" Most of the memory is native, %s, and that stopped growing.", size(native))
}

// stackSentence names the goroutines whose stacks are most of the memory, "" where they are not: no fault,
// and nothing that a heap profile shows.
func (c *Case) stackSentence() string {
	whose := c.whoseStacks()
	if whose == "" {
		return ""
	}
	return fmt.Sprintf(" The stacks of %s are %.0f%% of the memory.", whose, 100*c.stacksShare())
}

// whoseStacks are the goroutines whose stacks are much of the memory: "9,000 goroutines that wait at main.go:15", "" where it is not much, or of none
// that wait at one place.
func (c *Case) whoseStacks() string {
	if !(c.stacksShare() >= stacksShare.v()) || c.proc.Goroutines == nil || c.own.Row(sample.RowStacks) < sample.Bytes(smallPeak.v()) {
		return ""
	}
	p := pile{}
	c.waiters(&p)
	if p.waiting < int(fewestPiled.v()) || p.stacks*4 < c.own.Row(sample.RowStacks) {
		return "" // these few are not whose stacks they are
	}
	return fmt.Sprintf("%s goroutines that wait at %s", thousands(float64(p.waiting)), p.where())
}

func healthyFound(c *Case) Finding {
	if f, not := c.notHealthy(); not {
		return f
	}
	f := Finding{Stance: Speaks, Confidence: High, Facts: []Fact{c.factOutcome()}, Detail: c.endWords() + "Healthy."}
	if c.crashed() {
		f.Detail = "Memory was not the cause."
		if c.Crash != nil {
			f.Detail = c.Crash.words(c.name()) + " " + f.Detail
		}
	}
	f.Sentence = c.peakSentence()
	if text, facts := c.mostAllocated(); text != "" {
		f.Detail, f.Facts = f.Detail+" "+text, append(f.Facts, facts...)
	}
	if text := c.headroomWords(); text != "" {
		f.Detail, f.Facts = f.Detail+" "+text, append(f.Facts, c.factCollector())
	}
	if c.run.Tendency == Stable {
		return c.stableFound(f)
	}
	f.Facts = append(f.Facts, c.factCurve(), c.factRun())
	t := c.trend()
	switch t.State {
	case NotEnoughData:
		return c.endedFound(f, t)
	case TrendGrowing:
		return c.grewFound(f, t)
	}
	f.Sentence += fmt.Sprintf(", and %s.", t.words())
	f.Because = []string{fmt.Sprintf("%s in %s", t.readingWords(), seconds(c.outcome.Elapsed))}
	if grown, rose := c.nativeRose(); rose {
		return undecided(grown, fmt.Sprintf("native memory grew by %s until the end, and the run was too short to see whether that continues", fsize(grown)),
			f.Facts...)
	}
	if f.Confidence = c.flatSure(t); c.tooShort() && !c.endedWell() {
		f.Detail = strings.Replace(f.Detail, "Healthy.", tooBriefly, 1)
	}
	if g := c.run.Growth; g != nil && c.run.Seconds >= minStableRun.v() {
		f.Because = append(f.Because, fmt.Sprintf("%s is too short to see slow growth, and the live heap changed by %s", seconds(c.run.Seconds), g.byPace()))
	}
	return f
}

// tooBriefly is said instead of "Healthy" of what was seen for less time than a rise takes.
const tooBriefly = "Nothing wrong was seen, but the program was watched too briefly to call it healthy."

// flatSure is how surely nothing grows on, where the trend says so.
func (c *Case) flatSure(t Trend) Confidence {
	switch {
	case c.tooShort():
		return Low
	case t.Readings < int(enoughReadings.v()) || c.rise.n < int(fewestReadings.v()) || t.Of != ofLiveHeap || t.Seconds < shortestRise.v():
		return Medium // too few readings, or of something else
	case c.site != nil && c.isHolderFull():
		return Medium // it rose until then
	case t.State == ComesAndGoes && c.spiked():
		return Medium // nothing grew, but what made the peaks was not caught
	case t.State == ComesAndGoes && c.rise.returns == 0 && c.rise.grown > 0 && c.rise.material():
		return Medium // it rose by more than it fell, within what comes and goes
	}
	return High
}

// notHealthy is what is said where the program was near its limit, or too little was read.
func (c *Case) notHealthy() (f Finding, not bool) {
	switch {
	case c.outcome.Kernel:
		return silent("the kernel killed the program", c.factOutcome()), true
	case c.pressed:
		return silent(fmt.Sprintf("unreclaimable memory reached %s of %s", fsize(c.hardPeak()), limit(c.limit)), c.factOutcome()), true
	case c.outcome.PeakBytes == nil:
		return undecided(0, "the memory of the whole program was not read"), true
	case c.Imported == "core":
		return undecided(0, "whether the memory grew: a core file shows one instant"), true
	}
	return Finding{}, false
}

// nativeRose reports whether native memory grew, by a part of the memory worth speaking of and steadily until the
// moment; grown is by how much. It may be a cache of C code that fills, and it may go on.
func (c *Case) nativeRose() (grown float64, ok bool) {
	at, v := c.untilMoment(c.Ticks.Native)
	if len(v) == 0 || c.nativeRests() {
		return 0, false
	}
	line := floorsOf(at, v, c.outcome.MomentElapsed)
	grown = line.Slope * c.outcome.MomentElapsed * (1 - warmUp.v())
	return grown, line.N >= int(enoughReadings.v()) && line.Low > 0 && grown >= leastGrown.v() && grown >= flatShare.v()*c.hardPeak()
}

// endedFound is a program of which it is not known whether it grows on: only a job that ended by itself with
// room to spare is healthy then, and none that grew while its live heap was hardly read.
func (c *Case) endedFound(f Finding, t Trend) Finding {
	switch {
	case t.Of == ofMemory && t.GrownBytes > leastGrown.v():
		return undecided(t.GrownBytes, t.open(), f.Facts...)
	case c.endedWell() && c.hardPeak() <= smallPeak.v():
		f.Because = []string{"the program ended by itself and used little memory"}
	case c.endedWell() && c.Load == "" && c.servesAny() != 1 && c.limit == 0:
		f.Because = []string{"the job finished"}
	case c.endedWell() && c.Load == "" && c.servesAny() != 1 && c.neverShort():
		f.Because = []string{"the job finished with room to spare"}
	default:
		return undecided(0, t.open(), f.Facts...)
	}
	f.Detail = strings.Replace(f.Detail, "Healthy.", "Nothing wrong was seen, but the program ended before enough was read.", 1)
	f.Sentence += ". " + capital(t.Why) + "."
	f.Confidence = Low
	return f
}

// grewFound is a program that grew and yet is no leak that could be told: a job that ended with
// room to spare. Where it was still running, growth leaves the answer open.
func (c *Case) grewFound(f Finding, t Trend) Finding {
	if (!c.endedWell() && !c.crashed() || (c.servesAny() == 1 || c.paced() == 1) && c.endedWell()) && t.GrownBytes > leastGrown.v() {
		return undecided(t.GrownBytes, t.words()+tooShort, f.Facts...)
	}
	f.Sentence += fmt.Sprintf(". %s.%s", capital(t.words()), c.mostFrom())
	f.Confidence, f.Because = Low, []string{"the program ended while its memory grew, and a longer run may need more"}
	return f
}

// endWords says which signal ended the program, where that was not memory.
func (c *Case) endWords() string {
	if c.outcome.By == BySignal {
		return fmt.Sprintf("%s ended the program. Memory was not the cause. ", c.outcome.Signal)
	}
	return ""
}

// crashed reports whether the program ended by itself with another code than 0.
func (c *Case) crashed() bool {
	code := c.outcome.ExitCode
	return c.outcome.State == Exited && c.outcome.Stopped == "" && code != nil && *code != 0
}

// mostAllocated names the line that allocated most, by itself or by what it calls, ""
// where not much was allocated. Whether the work could be done with less one run
// cannot say.
func (c *Case) mostAllocated() (string, []Fact) {
	p := c.overall()
	if c.Half == nil || len(c.Allocators) == 0 || !(p.rate() >= churnRate.v()) || p.collections < churnCycles.v() || !p.profiled(c.Half) {
		return "", nil
	}
	text := fmt.Sprintf("The program allocated %s in all, %.0f%% of that at %s and in functions called from there", fsize(p.allocated), 100*c.Half.Share,
		place(c.Half.File, c.Half.Line))
	if words := p.gcWords(); words != "" {
		text += ". GC took " + words
	}
	return text + ".", []Fact{c.factPace(p), c.factAllocator(&c.Allocators[0])}
}

// neverShort reports whether a quarter of the limit or more was never needed.
func (c *Case) neverShort() bool { return c.limit > 0 && c.hardPeak() < 0.75*float64(c.limit) }

// peakSentence says how near the limit memory came, beyond what the headline has; it has no
// full stop yet.
func (c *Case) peakSentence() string {
	switch {
	case c.limit == 0:
		return "No memory limit was set"
	case !c.neverShort():
		return fmt.Sprintf("Peak memory left %s of the limit unused", fsize(float64(c.limit)-c.hardPeak()))
	}
	return "Memory usage stayed well below the limit"
}

// stableFound is a long run that ends, or goes on, well: in figures.
func (c *Case) stableFound(f Finding) Finding {
	r := c.run
	f.Sentence = fmt.Sprintf("Stable over %s. The %s changed by %s. %s.", seconds(r.Seconds), r.Growth.Of, r.Growth.byPace(), c.peakSentence())
	f.Because = []string{fmt.Sprintf("%s in %s", count(int(r.Kills), "kill"), seconds(r.Seconds))}
	if r.Footprint != nil {
		f.Because = append(f.Because, c.footprintWords())
	}
	if r.GCShare != nil && r.Collections > 0 {
		f.Because = append(f.Because, fmt.Sprintf("%s took about %s of the CPU time", count(int(r.Collections), "GC"), share(*r.GCShare)))
	}
	if r.Growth.Of == "memory" {
		f.Confidence = Medium
		f.Because = append(f.Because, "the live heap was not read")
	}
	f.Facts = append(f.Facts, c.factRun())
	return f
}

// footprintWords are the percentiles, those that are known.
func (c *Case) footprintWords() string {
	p := c.run.Footprint
	text := fmt.Sprintf("without page cache, memory was at most %s half of the time and %s for 95%%", size(p.P50), size(p.P95))
	if p.P99 != nil {
		text += fmt.Sprintf(", %s for 99%%", size(*p.P99))
	}
	if p.P999 != nil {
		text += fmt.Sprintf(", %s for 99.9%%", size(*p.P999))
	}
	return text
}
