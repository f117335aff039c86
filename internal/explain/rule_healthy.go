package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/units"
)

var healthyPage = Page{
	Truth: "Nothing to do: memory was never short, and nothing grew that could get there.",
	Looks: []string{
		"The greatest charge of what cannot be taken back, against the limit.",
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
	f.Detail = "Healthy: nothing to do."
	if c.outcome.By == BySignal {
		f.Detail = fmt.Sprintf("Memory did not end it: %s did.", c.outcome.Signal)
	}
	if code := c.outcome.ExitCode; c.outcome.State == Exited && c.outcome.Stopped == "" && code != nil && *code != 0 {
		f.Detail = fmt.Sprintf("Memory did not end it: it exited with code %d by itself.", *code)
	}
	if c.limit > 0 {
		f.Sentence = fmt.Sprintf("Memory was never short: the peak was %s of %s (%s)", size(c.peak), limit(c.limit), units.Percent(float64(c.peak), float64(c.limit)))
	} else {
		f.Sentence = fmt.Sprintf("The peak was %s; no memory limit was set", size(c.peak))
	}
	k := c.curve
	if len(k.points) < fewest {
		f.Sentence += "."
		readings := "only " + count(len(k.points), "reading")
		if len(k.points) == 0 {
			readings = "no reading"
		}
		f.Confidence, f.Because = Medium, []string{fmt.Sprintf("%s of the live heap in %s: slow growth would not show", readings, units.Duration(c.End.Sub(c.Start)))}
		return f
	}
	f.Facts = append(f.Facts, c.factCurve())
	if c.unwatchedEnd() {
		f.Sentence += "."
		f.Confidence, f.Because = Medium, []string{fmt.Sprintf("the last collection was after %s: growth since then would not show", seconds(k.points[len(k.points)-1].at))}
		return f
	}
	f.Sentence += fmt.Sprintf(", and the live heap did not keep growing (%s at the end).", fsize(k.last))
	f.Because = []string{fmt.Sprintf("no steady growth over %s", count(len(c.Cycles), "collection"))}
	return f
}
