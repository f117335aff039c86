package explain

import (
	"math"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/measure/budget"
	"github.com/highwater-go/highwater/internal/measure/latency"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// ProbeResults is what the program itself answered: its metrics and its replies to a probe, and what else
// went on then that could make it wait. Times are seconds since Evidence.Start.
type ProbeResults struct {
	Budget *budget.Budget // what somebody expects it to need; nil: nothing was said

	Metrics string   // where its metrics were read, "" if they were not
	Figures []Series // those that moved

	Probe    string           // what was asked, "PING redis://...", "" if nothing was
	Requests []sample.Request // those to the program while it lived, by when they were due
	All      int64            // how many requests were recorded; more than Requests where they were thinned

	// Marks are the collector's, as far as its phase and its CPU time tell; Stalls
	// the times in which tasks waited for memory, Reclaims those in which charges met
	// the limit or pages came from the disk again, Moments those in which highwater
	// read much of the program. They are disjoint and ascend.
	Marks, Stalls, Reclaims, Moments []latency.Stretch
	// Assists are the subject's, a counter in seconds of CPU time over time.
	Assists Series
}

// Series is a figure over time.
type Series struct {
	Name      string
	Kind      sample.FigureKind
	At, Value []float64
}

// mostAsked bounds the requests and figures that are read: 20 requests a second
// for three hours.
const mostAsked = 200_000

// asked reads what the program was asked.
func (l *loader) asked() error {
	meta, err := l.Meta()
	if err != nil {
		return err
	}
	a := &l.e.Probed
	a.Metrics, a.Probe = meta.More["metrics"], meta.More["probe"]
	if text := meta.More["expect"]; text != "" {
		if a.Budget, err = budget.Parse(text); err != nil {
			l.e.Gaps = append(l.e.Gaps, sample.Gap{What: "what was expected", Why: err.Error()})
		}
	}
	figures, err := l.FiguresAbout(mostAsked)
	if err != nil {
		return err
	}
	a.Figures = l.seriesOf(figures)
	requests, all, err := l.RequestsAbout(mostAsked)
	if err != nil || len(requests) == 0 {
		return err
	}
	a.Requests, a.All = whileItLived(requests, l.e.servedUntil()), all
	return l.meanwhile()
}

// seriesOf divides figures by their names.
func (l *loader) seriesOf(figures []sample.Figure) []Series {
	at := map[string]int{}
	var list []Series
	for _, f := range figures {
		i, known := at[f.Name]
		if !known {
			i = len(list)
			at[f.Name] = i
			list = append(list, Series{Name: f.Name, Kind: f.Kind})
		}
		list[i].At = append(list[i].At, l.e.seconds(f.At))
		list[i].Value = append(list[i].Value, f.Value)
	}
	return list
}

// servedUntil is when the program was told to end, or did.
func (e *Evidence) servedUntil() time.Time {
	for _, ev := range e.Events {
		switch ev.Kind {
		case sample.EventSignal, sample.EventOOMKill, sample.EventStop:
			return ev.At
		case sample.EventExit:
			if ev.Process == e.Subject {
				return ev.At
			}
		}
	}
	return e.End.Add(time.Hour)
}

// whileItLived leaves out what was due after the end, and what failed by it.
func whileItLived(list []sample.Request, end time.Time) []sample.Request {
	list = slices.DeleteFunc(list, func(r sample.Request) bool {
		return r.Due.After(end) || r.Failure != "" && r.Due.Add(r.Latency()).After(end)
	})
	sorting.Stable(list, func(a, b sample.Request) int { return a.Due.Compare(b.Due) })
	return list
}

// meanwhile reads what could make a request wait.
func (l *loader) meanwhile() error {
	a := &l.e.Probed
	p, err := l.ProcessSamplesAbout(l.rows, l.e.Subject, recording.ColGCPhase, recording.ColGCDedicatedTime, recording.ColGCAssistTime, recording.ColCPUTotal,
		recording.ColNumGC)
	if err != nil {
		return err
	}
	at := l.instants(p)
	a.Marks = latency.United(marks(l.e, booked{at, p.Column(recording.ColGCPhase), p.Column(recording.ColGCDedicatedTime), p.Column(recording.ColCPUTotal),
		p.Column(recording.ColNumGC)}))
	a.Assists = Series{Name: "gc_assist_time", Kind: sample.CounterKind, At: at, Value: inSeconds(p.Column(recording.ColGCAssistTime))}
	s, err := l.SamplesAbout(l.rows, recording.ColPressureSomeTotal, recording.ColEventsMax, recording.ColMajorFaults, recording.ColRefaults)
	if err != nil {
		return err
	}
	at = l.instants(s)
	a.Stalls = latency.United(rising(at, inSeconds(s.Column(recording.ColPressureSomeTotal)), 0.1))
	a.Reclaims = latency.United(slices.Concat(rising(at, s.Column(recording.ColEventsMax), 10), rising(at, s.Column(recording.ColMajorFaults), 100),
		rising(at, s.Column(recording.ColRefaults), 100)))
	reads, err := l.MomentTimes()
	for _, m := range reads {
		from := l.e.seconds(m.At)
		a.Moments = append(a.Moments, latency.Stretch{From: from, To: from + max(m.Took, m.Stopped).Seconds()})
	}
	a.Moments = latency.United(a.Moments)
	return err
}

// instants are a column's times.
func (l *loader) instants(s *recording.Series) []float64 {
	out := make([]float64, len(s.At))
	for i, at := range s.At {
		out[i] = float64(at-l.e.Start.UnixNano()) / 1e9
	}
	return out
}

// longestStep is the longest time between two samples of a counter, in seconds, in which a rise may
// be laid: what came in a longer one may have come at any time of it.
const longestStep = 2

// rising are the steps in which a counter rose by rate a second or more.
func rising(at, counter []float64, rate float64) (out []latency.Stretch) {
	for i := 1; i < len(at); i++ {
		if d := at[i] - at[i-1]; d > 0 && d < longestStep && counter[i]-counter[i-1] >= rate*d {
			out = append(out, latency.Stretch{From: at[i-1], To: at[i]})
		}
	}
	return out
}

// latency is nil where no request was timed or failed.
func (a *ProbeResults) latency(start time.Time) *latency.Latency {
	return latency.Of(&latency.Run{Probe: a.Probe, Requests: a.Requests, Recorded: a.All, Start: start,
		Marks: a.Marks, Stalls: a.Stalls, Reclaims: a.Reclaims, Moments: a.Moments, Assist: a.Assists.grown()})
}

// grown is how far a counter rose from its first reading to its last.
func (s Series) grown() float64 {
	first, last := math.NaN(), math.NaN()
	for _, v := range s.Value {
		if math.IsNaN(first) {
			first = v
		}
		if !math.IsNaN(v) {
			last = v
		}
	}
	return last - first
}
