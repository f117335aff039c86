package explain

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
)

var healthyPage = Page{
	Truth: "Nothing to do: memory was never short, and nothing grew that could get there.",
	Looks: []string{
		"The greatest charge of what cannot be taken back, against the limit.",
		"The line that allocated most, where much was allocated: it need not be wrong, and is no verdict.",
		"Growth of the live heap with its 95 % interval, percentiles of the footprint, the collector's part of the CPU time, kills: of a long run these say \"stable\", or \"not long enough to tell\".",
	},
	Blind: []string{
		"What another load would do.",
		"Growth that is slower than the interval is wide; the interval is printed.",
	},
	Example: "a service that ran for a night",
}

// judgeHealthy: nothing was near the limit, and nothing grew that could get
// there. Without a limit it says what the peak was.
func judgeHealthy(c *Case) Finding {
	f := healthyFound(c)
	if f.Confidence != High {
		f.Detail = strings.Replace(f.Detail, nothingToDo, "Healthy, as far as it was seen.", 1)
	}
	return f
}

const nothingToDo = "Healthy: nothing to do."

func healthyFound(c *Case) Finding {
	switch {
	case c.outcome.Kernel:
		return silent("the kernel killed it", c.factOutcome())
	case c.pressed:
		return silent(fmt.Sprintf("memory that cannot be taken back came to %s of %s", fsize(c.hardPeak()), limit(c.limit)), c.factOutcome())
	case c.outcome.PeakBytes == nil:
		return undecided(0, "no figure of the whole program's memory was read")
	}
	if c.Imported == "core" {
		return undecided(0, "a core file is one instant: whether the memory grew is not in it")
	}
	f := Finding{Stance: Speaks, Confidence: High, Facts: []Fact{c.factOutcome()}}
	f.Detail = nothingToDo
	if c.outcome.By == BySignal {
		f.Detail = fmt.Sprintf("Memory did not end it: %s did.", c.outcome.Signal)
	}
	if code := c.outcome.ExitCode; c.outcome.State == Exited && c.outcome.Stopped == "" && code != nil && *code != 0 {
		f.Detail = fmt.Sprintf("Memory did not end it: it exited with code %d by itself.", *code)
	}
	f.Sentence = c.peakSentence()
	if text, facts := c.mostAllocated(); text != "" {
		f.Detail, f.Facts = f.Detail+" "+text, append(f.Facts, facts...)
	}
	if c.run.Tendency == Stable {
		return c.stableFound(f)
	}
	if weak := c.heapUnwatched(); weak != "" {
		f.Sentence += "."
		f.Confidence, f.Because = Medium, []string{weak}
		if g := c.run.Growth; g != nil && g.Of == "memory" && c.run.Seconds >= longEnough {
			text := "memory without page cache grew by " + g.byPace()
			if c.run.Tendency == Growing {
				return undecided(0, text+", and "+weak, c.factRun())
			}
			f.Because, f.Facts = append(f.Because, text), append(f.Facts, c.factRun())
		}
		return f
	}
	f.Facts = append(f.Facts, c.factCurve(), c.factRun())
	k := c.curve
	switch grown := k.last - k.first; {
	case !c.grows():
		f.Sentence += fmt.Sprintf(", and the live heap did not keep growing (%s at the end%s).", fsize(k.last), c.uncharged(k.last))
		f.Because = []string{"no steady growth over " + c.readings()}
	case c.rests(grown):
		f.Sentence += fmt.Sprintf(", and the live heap grew to %s early%s, and no more.", fsize(k.last), c.uncharged(k.last))
		f.Because = []string{fmt.Sprintf("no growth in the last %s", seconds(c.outcome.Elapsed/3))}
	default:
		f.Sentence += fmt.Sprintf(". The live heap grew to %s until the program came to its own end.", fsize(k.last))
		f.Confidence, f.Because = Medium, []string{"a job that ends keeps what it works on: whether a longer one would need more was not seen"}
	}
	if g := c.run.Growth; g != nil && c.run.Seconds >= longEnough {
		f.Because = append(f.Because, fmt.Sprintf("%s are not long enough to tell slow growth: %s", seconds(c.run.Seconds), g.byPace()))
	}
	return f
}

// mostAllocated names the line that allocated most, by itself or by what it calls, ""
// where not much was allocated. Whether the work could be done with less one run
// cannot say.
func (c *Case) mostAllocated() (string, []Fact) {
	p := c.overall()
	if c.Half == nil || len(c.Allocators) == 0 || !(p.rate() >= churnRate) || p.collections < churnCycles || !p.profiled(c.Half) {
		return "", nil
	}
	text := fmt.Sprintf("Of the %s that it allocated in all, %.0f%% came from %s and what it calls", fsize(p.allocated), 100*c.Half.Share, place(c.Half.File, c.Half.Line))
	if words := p.gcWords(); words != "" {
		text += "; the collector took " + words
	}
	return text + ".", []Fact{c.factPace(p), c.factAllocator(&c.Allocators[0])}
}

// peakSentence says how near the limit memory came; it has no full stop yet.
func (c *Case) peakSentence() string {
	if c.limit == 0 {
		return fmt.Sprintf("The peak was %s; no memory limit was set", size(c.peak))
	}
	share := units.Percent(float64(c.peak), float64(c.limit))
	if c.hardPeak() >= 0.75*float64(c.limit) {
		return fmt.Sprintf("Memory sufficed, with %s to spare: the peak was %s of %s (%s)", fsize(float64(c.limit)-c.hardPeak()), size(c.peak), limit(c.limit), share)
	}
	return fmt.Sprintf("Memory was never short: the peak was %s of %s (%s)", size(c.peak), limit(c.limit), share)
}

// grows: the live heap stood well above where it began, and had not come back.
func (c *Case) grows() bool {
	k := c.curve
	grown := k.last - k.first
	return grown >= 8*float64(sample.MiB) && grown >= 0.25*k.last && k.trend.Low > 0 && k.drop <= 0.25*grown && k.tail >= 0.15*grown
}

// heapUnwatched says why slow growth of the live heap would not show, "" if it
// would.
func (c *Case) heapUnwatched() string {
	k := c.curve.points
	watched := units.Duration(c.End.Sub(c.Start))
	switch {
	case len(k) == 0 && isClosed(c.program(c.Subject)):
		return fmt.Sprintf("it was watched for %s and could not be read: what its memory was for is not known", watched)
	case len(k) == 0 && !c.isGo(c.Subject):
		return fmt.Sprintf("it was watched for %s and is no Go program: what its memory was for is not known", watched)
	case len(k) == 0 && c.g == nil:
		return "its Go runtime was not read, so that nothing is known of its live heap"
	case len(k) == 0:
		return fmt.Sprintf("no collection ended in %s: slow growth would not show", watched)
	case len(k) < fewest:
		return fmt.Sprintf("only %s of the live heap in %s: slow growth would not show", count(len(k), "reading"), watched)
	case c.unwatchedEnd():
		return fmt.Sprintf("the last collection was after %s: growth since then would not show", seconds(k[len(k)-1].at))
	}
	return ""
}

// stableFound is a long run that ends, or goes on, well: in figures.
func (c *Case) stableFound(f Finding) Finding {
	r := c.run
	f.Sentence = fmt.Sprintf("Stable over %s: the %s changed by %s. %s.", seconds(r.Seconds), r.Growth.Of, r.Growth.byPace(), c.peakSentence())
	f.Because = []string{fmt.Sprintf("%s in %s", count(int(r.Kills), "kill"), seconds(r.Seconds))}
	if r.Footprint != nil {
		f.Because = append(f.Because, c.footprintWords())
	}
	if r.GCShare != nil && r.Collections > 0 {
		f.Because = append(f.Because, fmt.Sprintf("%s took about %s of the CPU time", count(int(r.Collections), "collection"), share(*r.GCShare)))
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
	text := fmt.Sprintf("without page cache %s half of the time, %s at most in 95%%", size(p.P50), size(p.P95))
	if p.P99 != nil {
		text += fmt.Sprintf(", %s in 99%%", size(*p.P99))
	}
	if p.P999 != nil {
		text += fmt.Sprintf(", %s in 99.9%%", size(*p.P999))
	}
	return text
}

// uncharged says why a live heap can be larger than what was charged: at the moment more
// was live than the pages of all objects hold, and none of them was swapped.
func (c *Case) uncharged(live float64) string {
	if c.proc == nil || c.proc.Residency == nil || !c.proc.Residency.GoKnown || !c.live.known {
		return ""
	}
	r := c.proc.Residency
	if r.Swap > 0 || c.live.bytes <= r.GoObjects || live > 1.1*float64(c.live.bytes) {
		return ""
	}
	return ", part of it never touched, so not charged"
}
