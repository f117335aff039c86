package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/highwater-go/highwater/internal/measure/series"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Run is what the whole run says of itself in figures. Nil members were not seen,
// or too little of them.
type Run struct {
	Seconds   float64    `json:"seconds"`
	Footprint *Footprint `json:"footprint"`
	Growth    *Growth    `json:"growth"`
	// Collections that were seen, and the collector's part of the CPU time as the
	// runtime books it: by the clock, so that it is too high on a busy machine.
	Collections int64    `json:"collections"`
	GCShare     *float64 `json:"gc_share"`
	Kills       int64    `json:"kills"`
	Tendency    Tendency `json:"tendency"`
}

// Tendency is what is to be expected of a longer run under the same load.
type Tendency string

// The tendencies. Stable: at the greatest growth that the figures allow, a day
// would not bring it to its limit; without one, not to half as much again.
const (
	Stable  Tendency = "stable"
	Growing Tendency = "growing"
	TooSoon Tendency = "not long enough to tell"
)

// Growth is a line through the floors of what must stay: the live heap where
// collections were seen, else memory without page cache. Low and High hold it with
// 95 % confidence.
type Growth struct {
	Of      string  `json:"of"` // "live heap" or "memory"
	PerHour float64 `json:"bytes_per_hour"`
	Low     float64 `json:"low_bytes_per_hour"`
	High    float64 `json:"high_bytes_per_hour"`
	// Kept is the part of all newly allocated bytes that stayed; nil for "memory".
	Kept *float64 `json:"kept_of_allocated"`
	// LimitFrom and LimitTo are the seconds after which the limit would be reached;
	// nil where there is none, or no certain growth.
	LimitFrom *float64 `json:"limit_from_seconds"`
	LimitTo   *float64 `json:"limit_to_seconds"`
}

func runOf(c *Case) Run {
	r := Run{Seconds: c.outcome.Elapsed, Footprint: c.footprint(), Growth: c.growth()}
	for _, g := range c.Cycles {
		r.Collections += 1 + int64(g.Missed)
	}
	for _, e := range c.Events {
		if e.Kind == sample.EventOOMKill {
			r.Kills += e.Value
		}
	}
	if share := c.paceOf(0, math.Inf(1)).gcShare(); !math.IsNaN(share) {
		r.GCShare = &share
	}
	r.Tendency = c.tendency(r)
	return r
}

// stretches is how many parts of the run growth is judged by. The least of each
// counts, so that bursts do not; they are long enough to be independent.
const stretches = 60

// growth leaves out the first fifth of the run, in which a program loads what it
// needs, where enough is left.
func (c *Case) growth() *Growth {
	g, at, v := &Growth{Of: "live heap"}, []float64(nil), []float64(nil)
	if len(c.curve.points) >= int(enoughReadings.v()) {
		at, v = c.curve.floors(stretches)
		if kept := c.keptShare(); !math.IsNaN(kept) {
			g.Kept = &kept
		}
	} else {
		g.Of = "memory"
		b := series.Resample(c.Ticks.At, c.hard(), stretches)
		at, v = b.At, b.Min
	}
	if len(at) == 0 {
		return nil
	}
	from := at[0] + (at[len(at)-1]-at[0])/5
	if skip, _ := slices.BinarySearch(at, from); len(at)-skip >= 2*int(enoughReadings.v()) {
		at, v = at[skip:], v[skip:]
	}
	line := series.Line(at, v)
	if line.N < int(enoughReadings.v()) || math.IsInf(line.Low, 0) || math.IsInf(line.High, 0) {
		return nil
	}
	g.PerHour, g.Low, g.High = 3600*line.Slope, 3600*line.Low, 3600*line.High
	if room := float64(c.limit) - c.hardNow(); c.limit > 0 && line.Low > 0 && room > 0 && !(g.Kept != nil && c.slowsDown()) {
		first, last := room/(line.High*c.withGarbage()), room/line.Low
		g.LimitFrom, g.LimitTo = &first, &last
	}
	return g
}

// withGarbage is how much faster the heap's peaks grow than the live heap: by GOGC,
// as long as no memory limit holds the collector to less.
func (c *Case) withGarbage() float64 {
	if _, limited := c.memoryLimit(); c.g == nil || limited || c.g.GOGC < 0 {
		return 1
	}
	return 1 + float64(c.g.GOGC)/100
}

// keptShare is the part of newly allocated bytes that stayed, by a line of the
// live heap over the bytes allocated.
func (c *Case) keptShare() float64 {
	at, live := c.curve.floorsBy(stretches, func(p point) float64 { return p.alloc })
	return max(0, series.Line(at, live).Slope)
}

func (c *Case) tendency(r Run) Tendency {
	if c.outcome.Kernel || r.Growth == nil {
		return TooSoon
	}
	g, day, typical := r.Growth, 24.0, c.curve.last
	if r.Footprint != nil {
		typical = float64(r.Footprint.P50)
	}
	room := typical / 2
	if c.limit > 0 {
		room = float64(c.limit) - c.hardNow()
	}
	switch grown := g.PerHour * r.Seconds / 3600; {
	case g.Low > 0 && grown > max(4*float64(sample.MiB), typical/10):
		return Growing
	case r.Seconds >= minStableRun.v() && g.High*day < room:
		return Stable
	}
	return TooSoon
}

// byPace is a growth in words: "3.2 MiB an hour (2.9 to 3.5)".
func (g *Growth) byPace() string {
	unit, per := "an hour", 1.0
	switch {
	case math.Abs(g.PerHour) >= 3600*float64(sample.MiB):
		unit, per = "a second", 3600
	case math.Abs(g.PerHour) >= 300*float64(sample.MiB):
		unit, per = "a minute", 60
	}
	text, low, high := inMiB(g.PerHour/per)+" MiB "+unit, inMiB(g.Low/per), inMiB(g.High/per)
	if low == high {
		return text
	}
	return fmt.Sprintf("%s (%s to %s)", text, low, high)
}

// inMiB is an amount in MiB with as many digits as say something.
func inMiB(bytes float64) string {
	v := bytes / float64(sample.MiB)
	switch a := math.Abs(v); {
	case a < 0.005:
		return "0"
	case a < 1:
		return fmt.Sprintf("%.2f", v)
	case a < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// untilLimit says when the limit would be reached, "" where that is not known.
func (g *Growth) untilLimit() string {
	if g == nil || g.LimitFrom == nil {
		return ""
	}
	from, to := seconds(*g.LimitFrom), seconds(*g.LimitTo)
	if from == to {
		return from
	}
	return from + " to " + to
}

func (c *Case) factRun() Fact {
	r := c.run
	f := Fact{ID: "run", Values: map[string]int64{"milliseconds": int64(1000 * r.Seconds), "collections": r.Collections, "kills": r.Kills}}
	f.Text = fmt.Sprintf("%s: %s, %s", seconds(r.Seconds), count(int(r.Collections), "GC"), count(int(r.Kills), "kill"))
	if c.Imported != "" { // nobody counted kills, nor perhaps collections
		f.Text = fmt.Sprintf("%s: %s", seconds(r.Seconds), c.readings())
	}
	if p := r.Footprint; p != nil {
		f.Values["p50_bytes"], f.Values["p95_bytes"] = int64(p.P50), int64(p.P95)
		f.Text += fmt.Sprintf("; without page cache at most %s for 50%% of the time, %s for 95%%", size(p.P50), size(p.P95))
		if p.P99 != nil {
			f.Values["p99_bytes"] = int64(*p.P99)
			f.Text += fmt.Sprintf(", %s for 99%%", size(*p.P99))
		}
		if p.P999 != nil {
			f.Values["p999_bytes"] = int64(*p.P999)
			f.Text += fmt.Sprintf(", %s for 99.9%%", size(*p.P999))
		}
	}
	if g := r.Growth; g != nil {
		f.Values["bytes_per_hour"], f.Values["low_bytes_per_hour"], f.Values["high_bytes_per_hour"] = int64(g.PerHour), int64(g.Low), int64(g.High)
		f.Text += fmt.Sprintf("; %s %s", g.Of, g.byPace())
	}
	return f
}
