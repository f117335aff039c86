package web

import (
	"maps"
	"math"
	"slices"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// drawing puts courses, each with times of its own, onto one axis.
type drawing struct {
	start    int64 // UTC nanoseconds of second 0
	from, to float64
	steps    int
	columns  map[string]course
}

// draw makes the timeline: sample by sample where that is few enough, else two
// rows a step.
func (d *drawing) draw() *Timeline {
	t := &Timeline{From: d.from, To: d.to, Columns: map[string][]*float64{}, At: []float64{}}
	times := map[int64]bool{}
	for _, c := range d.columns {
		for _, at := range c.at {
			times[at] = true
		}
	}
	t.Exact = len(times) <= 2*d.steps
	if t.Exact {
		d.sampleBySample(t, slices.Sorted(maps.Keys(times)))
	} else {
		d.stepByStep(t)
	}
	for name, v := range t.Columns {
		if !slices.ContainsFunc(v, func(v *float64) bool { return v != nil }) {
			delete(t.Columns, name) // nothing to draw
		}
	}
	return t
}

func (d *drawing) sampleBySample(t *Timeline, times []int64) {
	place := make(map[int64]int, len(times))
	for i, at := range times {
		place[at] = i
		t.At = append(t.At, d.seconds(at))
	}
	for name, c := range d.columns {
		row := make([]*float64, len(times))
		for i, at := range c.at {
			row[place[at]] = seen(c.v[i])
		}
		t.Columns[name] = row
	}
}

func (d *drawing) stepByStep(t *Timeline) {
	width := (d.to - d.from) / float64(d.steps)
	for i := range d.steps {
		t.At = append(t.At, d.from+width*(float64(i)+0.25), d.from+width*(float64(i)+0.75))
	}
	for name, c := range d.columns {
		t.Columns[name] = d.fold(c, width)
	}
}

// fold is the least and the greatest value of each step, in the order in which
// they came.
func (d *drawing) fold(c course, width float64) []*float64 {
	out := make([]*float64, 2*d.steps)
	low, high := make([]int, d.steps), make([]int, d.steps)
	for i := range low {
		low[i], high[i] = -1, -1
	}
	for i, at := range c.at {
		step := int((d.seconds(at) - d.from) / width)
		if step < 0 || step >= d.steps || math.IsNaN(c.v[i]) {
			continue
		}
		if low[step] < 0 || c.v[i] < c.v[low[step]] {
			low[step] = i
		}
		if high[step] < 0 || c.v[i] >= c.v[high[step]] {
			high[step] = i
		}
	}
	for step := range low {
		if low[step] >= 0 {
			first, second := min(low[step], high[step]), max(low[step], high[step])
			out[2*step], out[2*step+1] = seen(c.v[first]), seen(c.v[second])
		}
	}
	return out
}

func (d *drawing) seconds(at int64) float64 { return math.Round(float64(at-d.start)/1e5) / 1e4 }

// seen is a value, null where it was not seen.
func seen(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// residents are the courses of the processes' resident memory.
type residents []course

func (r *residents) add(s *recording.Series) {
	var c course
	for i, v := range s.Column(recording.ColResident) {
		if !math.IsNaN(v) {
			c.at, c.v = append(c.at, s.At[i]), append(c.v, v)
		}
	}
	if len(c.at) > 0 {
		*r = append(*r, c)
	}
}

// course is their sum. A process that was not read at an instant of its life counts
// with what it had before: it was not gone.
func (r residents) course() (sum course) {
	all := map[int64]float64{}
	for _, c := range r {
		for _, at := range c.at {
			all[at] = 0
		}
	}
	times := slices.Sorted(maps.Keys(all))
	for _, c := range r {
		i := 0
		for _, at := range times {
			if at < c.at[0] || at > c.at[len(c.at)-1] {
				continue
			}
			for i+1 < len(c.at) && c.at[i+1] <= at {
				i++
			}
			all[at] += c.v[i]
		}
	}
	return inOrder(all)
}

func inOrder(values map[int64]float64) (c course) {
	c.at = slices.Sorted(maps.Keys(values))
	for _, at := range c.at {
		c.v = append(c.v, values[at])
	}
	return c
}

// withoutNone leaves out a GOMEMLIMIT that is not set.
func withoutNone(c course) course {
	out := course{c.at, slices.Clone(c.v)}
	for i, v := range out.v {
		if v >= float64(sample.NoMemoryLimit) {
			out.v[i] = math.NaN()
		}
	}
	return out
}
