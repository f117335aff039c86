package web

import (
	"math"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Stacked is the ledger over time: at each time the rows sum to the memory usage of
// that sample, where that is not less than they are.
type Stacked struct {
	At   []float64 `json:"at"` // seconds since the start
	Rows []Layer   `json:"rows"`
}

// Layer is one row of the ledger over time.
type Layer struct {
	Name  string  `json:"name"`
	Word  string  `json:"word"` // what it is called
	Bytes []int64 `json:"bytes"`
}

// stackedTimes is at how many times a stretch is divided: each is one read of a whole
// sample.
const stackedTimes = 160

// layerOrder is from the bottom up: the Go heap first, what the kernel can reclaim and
// what is not explained last.
var layerOrder = []string{
	sample.RowLive, sample.RowNew, sample.RowGarbage, sample.RowIdle, sample.RowStacks, sample.RowRuntime, sample.RowUndivided, sample.RowNative,
	sample.RowProgramData,
	sample.RowOther, sample.RowWatcher, sample.RowShmem, sample.RowKernel, sample.RowSockets, sample.RowPageCache, unexplainedRow,
}

const unexplainedRow = "unexplained"

// stacked divides the memory at times that lie evenly in a stretch, and at the
// moments in it.
func stacked(r *recording.Reader, e *explain.Evidence, from, to float64) (Stacked, error) {
	s := Stacked{At: []float64{}, Rows: []Layer{}}
	layers := map[string][]int64{}
	last := math.Inf(-1)
	for _, t := range timesToDivide(r, e, from, to) {
		p, err := fullPoint(r, e.Start.Add(time.Duration(t*1e9)))
		if err != nil {
			return s, err
		}
		if p == nil || e.Seconds(p.At) <= last {
			continue
		}
		last = e.Seconds(p.At)
		addLayers(layers, e.LedgerAt(p), len(s.At))
		s.At = append(s.At, math.Round(last*1e4)/1e4)
	}
	// Where the program ended, its pages were read: that is the end of the picture.
	if end := e.Seconds(e.Moment.At); e.Moment.Kind == sample.MomentDeath && end >= last && end >= from && end <= to {
		addLayers(layers, e.LedgerThen(), len(s.At))
		s.At = append(s.At, math.Round(end*1e4)/1e4)
	}
	for _, name := range layerOrder {
		if bytes := layers[name]; bytes != nil {
			bytes = append(bytes, make([]int64, len(s.At)-len(bytes))...)
			s.Rows = append(s.Rows, Layer{name, explain.RowWord(name), bytes})
		}
	}
	return s, nil
}

// addLayers adds one ledger as the n-th column.
func addLayers(layers map[string][]int64, l explain.Ledger, n int) {
	add := func(name string, bytes int64) {
		if bytes > 0 {
			v := append(layers[name], make([]int64, n-len(layers[name]))...)
			layers[name] = append(v, bytes)
		}
	}
	for _, row := range l.Rows {
		add(row.Name, int64(row.Bytes))
	}
	add(unexplainedRow, l.UnexplainedBytes)
}

// timesToDivide are in order, in seconds.
func timesToDivide(r *recording.Reader, e *explain.Evidence, from, to float64) (times []float64) {
	for i := range stackedTimes + 1 {
		times = append(times, from+(to-from)*float64(i)/stackedTimes)
	}
	moments, err := r.Moments()
	if err != nil {
		return times // the even ones do
	}
	for i := 0; i < len(moments); i += len(moments)/stackedTimes + 1 {
		if at := e.Seconds(moments[i].At); at >= from && at <= to {
			times = append(times, at)
		}
	}
	slices.Sort(times)
	return times
}

// allocationRate is how fast a process allocated, in bytes a second, from its counter of
// all that it ever allocated: over steps of at least a hundredth of the stretch, so that it
// can be read.
func allocationRate(c course, step time.Duration) (rate course) {
	last := -1
	for i, v := range c.v {
		if math.IsNaN(v) {
			continue
		}
		if last >= 0 && c.at[i]-c.at[last] < int64(step) {
			continue
		}
		if last >= 0 && v >= c.v[last] {
			seconds := float64(c.at[i]-c.at[last]) / 1e9
			rate.at, rate.v = append(rate.at, c.at[i]), append(rate.v, (v-c.v[last])/seconds)
		}
		last = i
	}
	return rate
}

// pauses are those of the GCs in a stretch, in seconds, each where it ended.
func pauses(cycles []sample.GCCycle, from, to time.Time) (c course) {
	for _, one := range cycles {
		if !one.At.Before(from) && !one.At.After(to) {
			c.at, c.v = append(c.at, one.At.UnixNano()), append(c.v, one.Pause.Seconds())
		}
	}
	return c
}
