package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/latency"
)

// words says what was found; of is how many figures were compared.
func (w *Work) words(of int, known bool) string {
	switch {
	case w.Clear && w.BeyondTime == nil:
		return fmt.Sprintf("the live heap grows by %s of %s (r=%.2f). The work came at a steady pace, so growth over time would look the same", w.perUnit(), w.Figure,
			*w.Correlation)
	case w.Clear:
		return fmt.Sprintf("the live heap grows by %s of %s (r=%.2f), rather than with time", w.perUnit(), w.Figure, *w.Correlation)
	case *w.Correlation >= minCorrelation && w.ratherTime():
		return fmt.Sprintf("the live heap grows with time rather than with %s", w.Figure)
	case w.High != nil && *w.Low <= 0 && *w.High > 0:
		return fmt.Sprintf("the live heap does not grow with %s (at most %s for each of %s)", w.Figure, unitSize(*w.High), thousands(w.Units))
	}
	return fmt.Sprintf("the live heap follows none of the %s that the program publishes (best: %s, r=%.2f)", count(of, "figure"), w.Figure, *w.Correlation)
}

// perUnit is "83 B (80 to 86 B) for each".
func (w *Work) perUnit() string {
	text := unitSize(w.PerUnit)
	if w.Low != nil {
		text += fmt.Sprintf(" (%s to %s)", unitSize(*w.Low), unitSize(*w.High))
	}
	return text + " for each"
}

// unitSize is an amount of memory that may be less than a byte.
func unitSize(bytes float64) string {
	switch {
	case math.Abs(bytes) < 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", bytes), ".0") + " B"
	case math.Abs(bytes) < 1024:
		return fmt.Sprintf("%.0f B", bytes)
	}
	return fsize(bytes)
}

// thousands is a number with its thousands apart.
func thousands(n float64) string {
	text := strconv.FormatFloat(math.Round(n), 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// askedFacts adds what the program was asked to the evidence.
func (c *Case) askedFacts(a *Answer, facts []Fact) []Fact {
	facts = c.addWork(a, facts)
	if a.Latency != nil {
		facts = append(facts, factLatency(a.Latency))
	}
	if x := a.Expected; x != nil {
		facts = append(facts, Fact{ID: "expected", Text: x.Sentence, Values: map[string]int64{"expected_bytes": int64(x.Bytes), "measured_bytes": int64(x.Measured)}})
	}
	return facts
}

// addWork adds the growth by work.
func (c *Case) addWork(a *Answer, facts []Fact) []Fact {
	w := a.Work
	if w == nil || w.Sentence == "" {
		return facts
	}
	f := Fact{ID: "work", Text: w.Sentence, Values: map[string]int64{"units": int64(w.Units), "per_unit_bytes": int64(w.PerUnit)}}
	if w.Low != nil {
		f.Values["low_per_unit_bytes"], f.Values["high_per_unit_bytes"] = int64(*w.Low), int64(*w.High)
	}
	if w.Correlation != nil {
		f.Values["correlation_percent"] = int64(math.Round(100 * *w.Correlation))
	}
	if len(w.Equal) > 0 {
		f.Text += "; " + list(w.Equal, "and") + " fit equally well"
	}
	return append(facts, f)
}

// factLatency is the table of percentiles as evidence.
func factLatency(l *latency.Latency) Fact {
	f := Fact{ID: "latency", Values: map[string]int64{"requests": int64(l.Requests), "no_answer": int64(l.NoAnswer), "failed": int64(l.Failed),
		"p50_ns": l.P50, "p90_ns": l.P90, "max_ns": l.Max}}
	if l.P99 != nil {
		f.Values["p99_ns"] = *l.P99
	}
	if l.P999 != nil {
		f.Values["p999_ns"] = *l.P999
	}
	f.Text = l.Line() + ". " + l.Sentence
	return f
}
