package trial

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// FitSchema names the form of a Fit as JSON.
const FitSchema = "highwater.fit/1"

// Fit is the smallest limits that a program has survived, and what is to be made of
// them.
type Fit struct {
	Schema string `json:"schema"`
	Setup
	Free  Run      `json:"free"`  // the run without a limit, from which the search began
	Began []string `json:"began"` // where it began, and why there
	// AsIs is without a setting, Limited with a GOMEMLIMIT that follows the limit; null
	// where it was not searched.
	AsIs        *Fitted            `json:"as_is"`
	Limited     *Fitted            `json:"with_gomemlimit"`
	Recommended *pacer.Recommended `json:"recommended"`
	Sentence    string             `json:"sentence"`
	TrueFor     string             `json:"true_for"`
	Notes       []string           `json:"notes"`
	Folder      string             `json:"folder"`
}

// Fitted is one search and what it found.
type Fitted struct {
	Limit      sample.Bytes  `json:"limit_bytes"` // 0: none was survived
	GOMEMLIMIT *sample.Bytes `json:"gomemlimit_bytes"`
	Confirmed  int           `json:"confirmed"` // runs that survived it, beside those that found it
	// Chance is the upper bound of the chance that a run is lost, at 95 %.
	Chance float64 `json:"chance"`
	Steps  []Step  `json:"steps"`
}

// Step is one run of a search.
type Step struct {
	Limit     sample.Bytes `json:"limit_bytes"`
	Phase     Phase        `json:"phase"`
	Ended     Ended        `json:"ended"`
	Why       string       `json:"why"`
	Recording string       `json:"recording"`
	// Latency is what a probe or the load said, by the names of their figures.
	Latency map[string]float64 `json:"latency"`
}

// spareOfFit is by how much the recommended limit is above the smallest confirmed: what
// 10 or 20 runs did not show.
const spareOfFit = 1.10

// Crawls says why a run that came to its end is called lost all the same, "" if it is
// not: the collector ran back to back. It took three times the CPU time of the free
// run, and a second more; or it collected ten times as often, and twenty times more
// (of the programs whose collections were counted in docs/research/tune.md none that was well
// did so under a GOMEMLIMIT, and each in a spiral a hundred times).
func Crawls(r, free Run) string {
	for _, c := range []struct {
		figure      string
		times, more float64
	}{{FigureCPU, 3, 1e9}, {FigureGCs, 10, 20}} {
		v, before := r.Values[c.figure], free.Values[c.figure]
		if before > 0 && v >= c.times*before && v >= before+c.more {
			f := figureOf(c.figure)
			return fmt.Sprintf("it crawled: %s %s, %s without a limit", f.Title, f.Text(v), f.Text(before))
		}
	}
	return ""
}

// Conclude recommends and says how that was found. exe is what the program is called
// in a line to paste, setting what it ran with, and nonGo what Go does not count.
func (f *Fit) Conclude(exe string, setting pacer.Setting, nonGo sample.Bytes) {
	f.TrueFor = (&Answer{Setup: f.Setup}).trueFor()
	if b := f.Machine.Busy; b != nil && *b >= BusyShare {
		f.Notes = append(f.Notes, fmt.Sprintf("others took %s of the CPUs between the runs: the smallest limit is less sure, and likely too great",
			units.Percent(*b, 1)))
	}
	best := f.Limited
	if pacer.BetterAsIs(f.AsIs.limit(), f.Limited.limit()) {
		best = f.AsIs
	}
	if best.limit() == 0 {
		f.Sentence = "The program survives no limit that was tried."
		return
	}
	limit := (sample.Bytes(spareOfFit*float64(best.Limit)) + sample.MiB - 1) / sample.MiB * sample.MiB
	if best == f.Limited {
		setting.Limit = int64(pacer.MemoryLimitFor(limit, nonGo))
	}
	f.Recommended = pacer.Recommend(setting, limit, exe)
	f.Recommended.Because = fmt.Sprintf("%.0f%% above the smallest that survived: %s, in all of %d confirming runs", 100*(spareOfFit-1), units.Limit(best.Limit),
		best.Confirmed)
	f.Sentence = best.Text(best == f.Limited)
}

// limit is what was found, 0 where nothing was, or was not searched.
func (f *Fitted) limit() sample.Bytes {
	if f == nil {
		return 0
	}
	return f.Limit
}

// Text says what a search found: what the confirmation bounds is the chance of a
// loss, not the limit.
func (f *Fitted) Text(limited bool) string {
	with := "as it is"
	if limited && f.GOMEMLIMIT != nil {
		with = "with GOMEMLIMIT=" + units.Env(*f.GOMEMLIMIT)
	}
	if f.Limit == 0 {
		return with + ": the program survives no limit that was tried"
	}
	return fmt.Sprintf("%s %s: the program survived %d of %d confirming runs (true failure rate below %.0f%% with 95%% confidence)",
		units.Limit(f.Limit), with, f.Confirmed, f.Confirmed, 100*f.Chance)
}

// Latency is the middle of each latency of the runs that confirmed the limit, by the
// names of their figures.
func (f *Fitted) Latency() map[string]float64 {
	seen := map[string][]float64{}
	for _, s := range f.Steps {
		if s.Phase != Confirming || s.Limit != f.Limit || s.Ended.Lost() {
			continue
		}
		for name, took := range s.Latency {
			seen[name] = append(seen[name], took)
		}
	}
	middle := map[string]float64{}
	for name, took := range seen {
		middle[name] = Percentile(took, 0.5)
	}
	return middle
}

// Path is the course of a search in short: "39 MiB ok, 35 MiB killed, ...".
func (f *Fitted) Path() string {
	var parts []string
	for _, s := range f.Steps {
		if s.Phase == Confirming && s.Ended == Finished {
			continue
		}
		word := "ok"
		if s.Ended.Lost() {
			word = ended[s.Ended]
		}
		parts = append(parts, units.Limit(s.Limit)+" "+word)
	}
	return strings.Join(parts, ", ")
}
