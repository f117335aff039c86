package web

import (
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Timeline is columns over a stretch of time, ready to draw. Where a step holds
// more than two samples it is two rows, the least and the greatest value in their
// order, so that no peak is lost. Null is "not seen".
type Timeline struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Exact bool    `json:"exact"` // every sample is in it
	// Thinned means that the stretch has more than Read samples, which were taken evenly from it, with the charges of
	// all moments, and the heights that the kernel's own mark reached meanwhile. A lower peak than one before it may be
	// missing.
	Thinned bool                  `json:"thinned"`
	Read    int                   `json:"read"`
	At      []float64             `json:"at"` // seconds since the start
	Columns map[string][]*float64 `json:"columns"`
	Ledger  Stacked               `json:"ledger"`
}

// overviewSteps is how many steps the whole of a recording is drawn in, mostSteps
// how many one may ask for.
const (
	overviewSteps = 1200
	mostSteps     = 4000
	// mostRead is how many samples are read for a stretch: each costs some
	// microseconds, and people wait for them while they move over the course.
	mostRead = 12_000
	// mostApart is that of a stretch of more seconds than farApart: each row is then a
	// page of the file by itself, and costs five times as much.
	mostApart, farApart = 6_000, 6 * 3600
)

// chargeColumns are drawn of the cgroup, processColumns of the process that the
// answer is about; resident is the sum of all processes.
var (
	chargeColumns = []recording.Column{recording.ColUsage, recording.ColUsageLimit, recording.ColPageCache, recording.ColShmem, recording.ColKernel,
		recording.ColPressureSome10}
	processColumns = []recording.Column{recording.ColHeapLive, recording.ColHeapMarked, recording.ColHeapGoal, recording.ColMemoryLimit, recording.ColGoroutines,
		recording.ColHeapInUse, recording.ColTotalAlloc}
)

// Timeline reads the samples from one time to another, in seconds since the
// start.
func (b *Book) Timeline(from, to float64, steps int) (t *Timeline, err error) {
	var of *explain.Evidence
	err = b.main.read(b.opener(), b.Path, func(r *recording.Reader) error {
		of, err = b.load(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	steps = max(10, min(steps, mostSteps))
	err = b.course.read(b.opener(), b.Path, func(r *recording.Reader) error {
		t, err = once(&b.courses, fmt.Sprint(from, to, steps), func() (*Timeline, bool, error) {
			t, err := timeline(r, of, from, to, steps)
			return t, !r.Live(), err
		})
		return err
	})
	return t, err
}

func timeline(r *recording.Reader, of *explain.Evidence, from, to float64, steps int) (*Timeline, error) {
	at := func(seconds float64) time.Time { return of.Start.Add(time.Duration(seconds * 1e9)) }
	most := int64(mostRead)
	if to-from > farApart {
		most = mostApart
	}
	charge, err := r.SamplesBetween(at(from), at(to), most, append([]recording.Column{recording.ColPeak}, chargeColumns...)...)
	if err != nil {
		return nil, err
	}
	d := drawing{start: of.Start.UnixNano(), from: from, to: to, steps: steps, columns: map[string]course{}}
	for _, c := range chargeColumns {
		d.columns[c.Name()] = course{charge.At, charge.Column(c)}
	}
	thinned := charge.Len() >= int(most)*9/10
	if thinned {
		d.columns["usage"] = withRises(d.columns["usage"], charge.Column(recording.ColPeak))
	}
	d.columns["usage"] = withMoments(d.columns["usage"], r)
	resident := residents{}
	seen := map[sample.ProcessKey]bool{}
	for _, p := range of.Programs[:min(len(of.Programs), mostPrograms)] {
		if seen[p.Key] {
			continue
		}
		seen[p.Key] = true
		columns := []recording.Column{recording.ColResident}
		if p.Key == of.Subject {
			columns = append(columns, processColumns...)
		}
		s, err := r.ProcessSamplesBetween(at(from), at(to), most, p.Key, columns...)
		if err != nil {
			return nil, err
		}
		resident.add(s)
		for _, c := range columns[1:] {
			d.columns[c.Name()] = course{s.At, s.Column(c)}
		}
	}
	d.columns["resident"] = resident.course()
	d.columns["memory_limit"] = withoutNone(d.columns["memory_limit"])
	d.columns["alloc_rate"] = allocationRate(d.columns["total_alloc"], at((to-from)/100).Sub(of.Start))
	delete(d.columns, "total_alloc")
	d.columns["gc_pause"] = pauses(of.Cycles, at(from), at(to))
	if err := d.asked(r); err != nil {
		return nil, err
	}
	t := d.draw()
	t.Read, t.Thinned = charge.Len(), thinned
	t.Ledger, err = stacked(r, of, from, to)
	return t, err
}

// course is one column with its own times.
type course struct {
	at []int64
	v  []float64
}

// withRises adds each new height that the kernel's mark of the greatest charge
// reached between two of the samples that were read: in the middle, since when it
// was is not known. So no thinning loses the greatest charge.
func withRises(c course, peak []float64) (out course) {
	for i, at := range c.at {
		if i > 0 && peak[i] > peak[i-1] && !(c.v[i] >= peak[i]) {
			out.at, out.v = append(out.at, c.at[i-1]+(at-c.at[i-1])/2), append(out.v, peak[i])
		}
		out.at, out.v = append(out.at, at), append(out.v, c.v[i])
	}
	return out
}

// withMoments adds the charges that were read within moments: the peaks are among
// them, which thinned samples may have passed over.
func withMoments(c course, r *recording.Reader) course {
	list, err := r.Moments()
	if err != nil || len(c.at) == 0 {
		return c
	}
	all := map[int64]float64{}
	for i, at := range c.at {
		all[at] = c.v[i]
	}
	for _, m := range list {
		if at := m.At.UnixNano(); m.Usage.OK && at >= c.at[0] && at <= c.at[len(c.at)-1]+int64(time.Second) {
			all[at] = float64(m.Usage.V)
		}
	}
	return inOrder(all)
}
