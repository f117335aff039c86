package trial

import (
	"math"

	"github.com/highwater-go/highwater/internal/record/recording"
)

// Curve is the course of one run's memory: the charge without page cache. It has no
// points where there was no cgroup.
type Curve struct {
	Run
	Seconds []float64 // since its first sample, rising
	Bytes   []float64 // the greatest since the time before
}

// curvePoints is how many points a curve has at most.
const curvePoints = 400

// ReadCurve reads a run's course from its recording.
func ReadCurve(r *recording.Reader, run Run) (Curve, error) {
	s, err := r.SamplesAbout(mostRows, recording.ColUsage, recording.ColPageCache)
	if err != nil {
		return Curve{Run: run}, err
	}
	return curveOf(run, s.At, s.Column(recording.ColUsage), s.Column(recording.ColPageCache)), nil
}

// curveOf thins samples to the greatest of each of curvePoints spans. at is in
// nanoseconds; a sample without a page cache is taken to have that of the one before,
// and is left out where none was read yet.
func curveOf(run Run, at []int64, usage, cache []float64) Curve {
	c := Curve{Run: run}
	if len(at) == 0 {
		return c
	}
	last, held := -1, math.NaN()
	whole := max(at[len(at)-1]-at[0], 1)
	for i, used := range usage {
		if !math.IsNaN(cache[i]) {
			held = cache[i]
		}
		if math.IsNaN(used) || math.IsNaN(held) {
			continue
		}
		seconds, need := float64(at[i]-at[0])/1e9, max(0, used-held)
		if span := int(float64(at[i]-at[0]) / float64(whole) * curvePoints); span != last || len(c.Bytes) == 0 {
			last, c.Seconds, c.Bytes = span, append(c.Seconds, seconds), append(c.Bytes, need)
			continue
		}
		if n := len(c.Bytes) - 1; need > c.Bytes[n] {
			c.Seconds[n], c.Bytes[n] = seconds, need
		}
	}
	return c
}
