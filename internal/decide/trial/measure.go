package trial

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// mostRows bounds how many samples and requests of a run are read.
const mostRows = 200_000

// Measure reads how a recorded run ended and what it needed. Variant, N and
// Recording are for the caller to set. count finds in a load's last words how many
// requests it made; those of a probe come first.
func Measure(r *recording.Reader, count func(output string) (requests float64, ok bool)) (Run, error) {
	run := Run{Values: map[string]float64{}}
	meta, err := r.Meta()
	if err != nil {
		return run, err
	}
	events, err := r.Events()
	if err != nil {
		return run, err
	}
	c := courseOf(events)
	run.Ended, run.Why = c.end(meta.More["load"] != "")
	if took := c.worked(); took > 0 {
		run.Values[FigureTime] = float64(took)
	}
	if c.loadEnd != nil {
		maps.Copy(run.Values, LoadFigures(c.loadEnd.Text))
		if n, ok := count(c.loadEnd.Text); ok {
			run.Values[FigureRequests] = n
		}
	}
	m := measuring{Reader: r, run: &run, limit: float64(meta.Limit.Or(0))}
	for _, step := range []func() error{m.charge, m.programs, func() error { return m.requests(c) }} {
		if err := step(); err != nil {
			return run, err
		}
	}
	if c.loadEnd != nil {
		run.addLoadLatencies(c.loadEnd.Text)
	}
	return run, nil
}

// measuring is a Measure at work.
type measuring struct {
	*recording.Reader
	run   *Run
	limit float64
}

// charge reads the greatest charge without page cache. Samples that only read the
// charge are taken to have as much page cache as the one before.
func (m measuring) charge() error {
	s, err := m.SamplesAbout(mostRows, recording.ColUsage, recording.ColPageCache)
	if err != nil {
		return err
	}
	peak, cache := math.NaN(), 0.0
	for i, usage := range s.Column(recording.ColUsage) {
		if c := s.Column(recording.ColPageCache)[i]; !math.IsNaN(c) {
			cache = c
		}
		if need := usage - cache; !math.IsNaN(need) && !(need <= peak) {
			peak = need
		}
	}
	if math.IsNaN(peak) {
		return nil
	}
	m.run.Values[FigurePeak] = peak
	if m.limit > 0 {
		m.run.Values[FigureHeadroom] = max(0, m.limit-peak)
	}
	return nil
}

// programs reads the resident sets together, and the CPU time of all.
func (m measuring) programs() error {
	programs, err := m.Programs()
	if err != nil {
		return err
	}
	resident, seen := map[int64]float64{}, map[sample.ProcessKey]bool{}
	var cpu, gc, gcs float64
	goSeen := false
	for _, p := range programs {
		goSeen = goSeen || p.Go != nil
		if seen[p.Key] { // it became another program
			continue
		}
		seen[p.Key] = true
		s, err := m.ProcessSamplesAbout(mostRows, p.Key, recording.ColResident, recording.ColUserTime, recording.ColSystemTime,
			recording.ColGCAssistTime, recording.ColGCDedicatedTime, recording.ColGCPauseTime, recording.ColNumGC)
		if err != nil {
			return err
		}
		for i, at := range s.At {
			if v := s.Column(recording.ColResident)[i]; !math.IsNaN(v) {
				resident[at] += v
			}
		}
		cpu += greatest(s.Column(recording.ColUserTime)) + greatest(s.Column(recording.ColSystemTime))
		collected := greatest(s.Column(recording.ColGCAssistTime)) + greatest(s.Column(recording.ColGCDedicatedTime)) + greatest(s.Column(recording.ColGCPauseTime))
		gc += collected
		gcs += greatest(s.Column(recording.ColNumGC))
	}
	for _, v := range resident {
		m.run.Values[FigureResident] = max(m.run.Values[FigureResident], v)
	}
	if goSeen {
		m.run.Values[FigureGCs] = gcs
	}
	if cpu > 0 {
		m.run.Values[FigureCPU] = cpu
		if goSeen {
			m.run.Values[FigureGC] = min(1, gc/cpu)
		}
	}
	return nil
}

// greatest is the greatest value that was seen, 0 if none was.
func greatest(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		if v > most {
			most = v
		}
	}
	return most
}

// requests reads how long the probe waited, while the program was not told to end.
func (m measuring) requests(c course) error {
	list, _, err := m.RequestsAbout(mostRows)
	if err != nil || len(list) == 0 {
		return err
	}
	end := time.Time{}
	for _, e := range []*sample.Event{c.stopped, c.killed, c.exit} {
		if e != nil && (end.IsZero() || e.At.Before(end)) {
			end = e.At
		}
	}
	var took []float64
	answered := 0
	for _, r := range list {
		if !end.IsZero() && r.Due.Add(r.Latency()).After(end) || !r.Timed() {
			continue
		}
		took = append(took, float64(r.Latency()))
		if r.Failure == "" {
			answered++
		}
	}
	m.run.Values[FigureRequests] = float64(answered)
	if len(took) > 0 {
		m.run.Values[FigureP50] = Percentile(took, 0.50)
	}
	if len(took) >= 100 { // as explain --latency: fewer say nothing of the slowest hundredth
		m.run.Values[FigureP99] = Percentile(took, 0.99)
	}
	return nil
}

// Percentile is the value at a share of the sorted values, by the nearest rank.
func Percentile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}
