package explain

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/series"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Work is how memory grows with the work that is done, by a figure that the
// program publishes about itself, or by what the load counted.
type Work struct {
	// Figure is the counter or gauge that the growth follows best, of those read at
	// Metrics; "" where the load's count was taken.
	Figure  string            `json:"figure"`
	Kind    sample.FigureKind `json:"kind"`
	Metrics string            `json:"metrics"`
	Of      string            `json:"of"` // "live heap"
	// PerUnit are the bytes that each unit leaves; it lies between Low and High with
	// 95 % confidence, nil where one count is all there is.
	PerUnit float64  `json:"bytes_per_unit"`
	Low     *float64 `json:"low_bytes_per_unit"`
	High    *float64 `json:"high_bytes_per_unit"`
	Units   float64  `json:"units"` // done meanwhile
	// Correlation is Pearson's, of the live heap and the figure. BeyondTime is what is
	// left of it when the growth of both with time is taken away; nil where the work
	// went at so steady a pace that time and work cannot be told apart.
	Correlation *float64 `json:"correlation"`
	BeyondTime  *float64 `json:"correlation_beyond_time"`
	// Clear means that the growth is certain, and follows the figure.
	Clear bool `json:"clear"`
	// Equal are figures that follow it as well.
	Equal    []string `json:"equal"`
	Sentence string   `json:"sentence"`
}

// Bounds of what is called clear.
const (
	minCorrelation = 0.9   // a correlation that is no chance
	collinearAbove = 0.995 // time and work are one
	fewWork        = 8     // readings of the live heap
)

// workOf is nil where nothing counted the work, or the live heap is not known.
func workOf(c *Case) *Work {
	at, live := c.floorsOfGrowth()
	if len(at) < fewWork {
		return nil
	}
	if w := c.byFigure(at, live); w != nil {
		return w
	}
	return c.byLoad()
}

// floorsOfGrowth are the readings of the live heap that growth is judged by: without
// the first fifth of the run, in which a program loads what it needs.
func (c *Case) floorsOfGrowth() (at, live []float64) {
	if len(c.curve.points) == 0 {
		return nil, nil
	}
	at, live = c.curve.floors(stretches)
	skip := sort.SearchFloat64s(at, at[0]+(at[len(at)-1]-at[0])/5)
	if len(at)-skip >= fewWork {
		at, live = at[skip:], live[skip:]
	}
	return at, live
}

// byFigure takes the figure that the live heap follows best.
func (c *Case) byFigure(at, live []float64) *Work {
	var list []Work
	for _, f := range c.Probed.Figures {
		if w, ok := follow(f, at, live); ok {
			w.Metrics = c.Probed.Metrics
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		return nil
	}
	sorting.Stable(list, better)
	best := list[0]
	for _, w := range list[1:] {
		if best.Clear && w.Clear && *best.Correlation-*w.Correlation < 0.01 {
			best.Equal = append(best.Equal, w.Figure)
		}
	}
	best.Sentence = best.words(len(list), c.live.known)
	return &best
}

// follow draws a line through the live heap over a figure; ok is false for one that
// counts no work, or that was not seen to move meanwhile.
func follow(f Series, at, live []float64) (w Work, ok bool) {
	if countsTime(f.Name) {
		return w, false
	}
	var x, y, t []float64
	for i := range at {
		if v := valueAt(f, at[i]); !math.IsNaN(v) {
			x, y, t = append(x, v), append(y, live[i]), append(t, at[i])
		}
	}
	if len(x) < fewWork || x[series.Max(x)] == x[series.Min(x)] {
		return w, false
	}
	line := series.Line(x, y)
	r := correlation(x, y)
	w = Work{Figure: f.Name, Kind: f.Kind, Of: "live heap", PerUnit: line.Slope, Units: x[len(x)-1] - x[0], Correlation: &r, Equal: []string{}}
	if math.IsNaN(line.Slope) {
		return w, false
	}
	if !math.IsInf(line.Low, 0) && !math.IsInf(line.High, 0) {
		w.Low, w.High = &line.Low, &line.High
	}
	if rt := correlation(x, t); math.Abs(rt) < collinearAbove {
		rest := beyond(r, rt, correlation(y, t))
		w.BeyondTime = &rest
	}
	grown := y[len(y)-1] - y[0]
	w.Clear = w.Low != nil && *w.Low > 0 && r >= minCorrelation && grown > 4*float64(sample.MiB) && !w.ratherTime()
	return w, true
}

// ratherTime reports whether what is left of the correlation without time says that the memory grows with the clock and
// not with this.
func (w *Work) ratherTime() bool { return w.BeyondTime != nil && *w.BeyondTime < 0.3 }

// countsTime reports whether a figure of seconds spent counts no pieces of work.
func countsTime(name string) bool {
	for _, end := range []string{"_seconds_total", "_seconds_sum", "_created", "_timestamp_seconds", "_milliseconds_total"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// workWords are what figures of work are called by; of figures that the memory
// follows equally well the first in this list is named.
var workWords = []string{"request", "command", "message", "rpc", "job", "task", "event", "query", "queries", "upload", "call", "record", "handled", "processed"}

func better(a, b Work) int {
	if a.Clear != b.Clear {
		return cmp.Compare(rank(b.Clear), rank(a.Clear))
	}
	if d := *b.Correlation - *a.Correlation; math.Abs(d) >= 0.01 {
		return cmp.Compare(d, 0)
	}
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(wordIndex(a.Figure), wordIndex(b.Figure)), cmp.Compare(b.Units, a.Units))
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}

func wordIndex(name string) int {
	i := slices.IndexFunc(workWords, func(w string) bool { return strings.Contains(name, w) })
	if i < 0 {
		return len(workWords)
	}
	return i
}

// valueAt is a figure at an instant, on the straight line between its readings; NaN
// before the first and after the last, and where a counter began anew.
func valueAt(f Series, at float64) float64 {
	i := sort.SearchFloat64s(f.At, at)
	switch {
	case i == len(f.At) || i == 0 && f.At[0] != at:
		return math.NaN()
	case f.At[i] == at:
		return f.Value[i]
	case f.Kind == sample.CounterKind && f.Value[i] < f.Value[i-1]:
		return math.NaN()
	}
	return f.Value[i-1] + (f.Value[i]-f.Value[i-1])*(at-f.At[i-1])/(f.At[i]-f.At[i-1])
}

// correlation is Pearson's coefficient; 0 where one of the columns does not move.
func correlation(x, y []float64) float64 {
	mx, my := mean(x), mean(y)
	var xx, yy, xy float64
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
		xy += (x[i] - mx) * (y[i] - my)
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// beyond is the partial correlation of memory and work, time held still.
func beyond(work, workTime, memoryTime float64) float64 {
	rest := (1 - workTime*workTime) * (1 - memoryTime*memoryTime)
	if rest <= 0 {
		return 0
	}
	return (work - workTime*memoryTime) / math.Sqrt(rest)
}
