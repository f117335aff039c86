package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/probe"
	"github.com/highwater-go/highwater/internal/eyes/pull"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

const (
	// metricsEvery is how often the program's metrics are read, or as much less as
	// keeps reading them below a hundredth of the time; metricsFor bounds one answer.
	metricsEvery = 2 * time.Second
	metricsShare = 100
	metricsFor   = 5 * time.Second
	// mostFigures is how many of them are kept.
	mostFigures = 32
	// longWait is the time to a first answer that an explanation mentions.
	longWait = 10 * time.Second
	// mostWaiting bounds the answers that wait for a loop whose recording has ended.
	mostWaiting = 8192
	// untilAnswer is how long is waited before the next try while there is none.
	untilAnswer = 250 * time.Millisecond
)

// The keys of a recording's meta for what the program was asked.
const (
	metaProbe   = "probe"
	metaMetrics = "metrics"
)

// AskFlags are what run and watch may ask of the program itself, as given.
type AskFlags struct {
	Metrics, Probe string
	ProbeRate      float64
}

// asks are what the program is asked; nil members are not asked.
type asks struct {
	metrics *pull.MetricsEndpoint
	probe   *probe.Target
	rate    float64
}

func (f AskFlags) plan() (a asks, err error) {
	if f.Metrics != "" {
		if a.metrics, err = pull.NewMetricsEndpoint(f.Metrics, metricsFor); err != nil {
			return a, Usagef("--metrics http://127.0.0.1:8080/metrics", "--metrics: %w", err)
		}
	}
	if f.Probe != "" {
		if a.probe, err = probe.Parse(f.Probe); err != nil {
			return a, Usagef("--probe http://127.0.0.1:8080/, or redis://127.0.0.1:6379", "--probe: %w", err)
		}
	}
	if f.ProbeRate < 0.1 || f.ProbeRate > 100 {
		return a, Usagef("--probe-rate 20", "--probe-rate %g is not between 0.1 and 100 requests a second", f.ProbeRate)
	}
	a.rate = f.ProbeRate
	return a, nil
}

// none reports whether nothing is asked.
func (a asks) none() bool { return a.metrics == nil && a.probe == nil }

// claimAsks are the questions, for one life at a time: where several programs of
// one name run, they are of the one that was found first.
func (l *life) claimAsks() asks {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watching.asks.none() {
		return asks{}
	}
	if l.asked {
		l.status.say("--metrics and --probe are recorded with the program found first, not with %s", l.what)
		return asks{}
	}
	l.asked = true
	return l.watching.asks
}

// freeAsks gives them to the next life; the caller holds mu.
func (l *life) freeAsks() { l.asked = l.asked && l.probing.none() }

// describe adds to a recording's meta what is asked.
func (a asks) describe(more map[string]string) {
	if a.metrics != nil {
		more[metaMetrics] = a.metrics.Name()
	}
	if a.probe != nil {
		more[metaProbe] = a.probe.What() + " " + a.probe.Name()
	}
}

// probing is the questions while they are asked. What is answered waits here for
// the loop, which alone writes the recording.
type probing struct {
	asks
	status     *status
	heaps      *heapTaker         // nil: none is captured
	onAnswered func(at time.Time) // of the probe; nil: nobody is told

	mu       sync.Mutex
	requests []sample.Request
	figures  []sample.Figure
	gaps     []sample.Gap
}

// start asks until ctx ends; helpers waits for it.
func (a *probing) start(ctx context.Context, helpers *sync.WaitGroup) {
	if a.metrics != nil {
		helpers.Go(func() { a.readMetrics(ctx) })
	}
	if a.probe != nil {
		helpers.Go(func() { a.sendRequests(ctx) })
	}
	if a.heaps != nil {
		a.heaps.start(ctx, helpers)
	}
}

// probeSink is a recording that gets the answers with the points.
type probeSink struct {
	*recording.Writer
	probing *probing
}

// Point keeps what has been answered, and the point.
func (s probeSink) Point(p *sample.Point) error {
	if s.probing.heaps != nil {
		s.probing.heaps.see(p)
	}
	if err := s.probing.keep(s.Writer); err != nil {
		return err
	}
	return s.Writer.Point(p)
}

// keep writes what has been answered; it is called by the goroutine that writes
// the recording.
func (a *probing) keep(w *recording.Writer) error {
	a.mu.Lock()
	requests, figures, gaps := a.requests, a.figures, a.gaps
	a.requests, a.figures, a.gaps = nil, nil, nil
	a.mu.Unlock()
	for _, r := range requests {
		if err := w.Request(r); err != nil {
			return err
		}
	}
	for _, f := range figures {
		if err := w.Figure(f); err != nil {
			return err
		}
	}
	for _, g := range gaps {
		if err := w.Gap(g); err != nil {
			return err
		}
	}
	if a.heaps != nil {
		return a.heaps.keep(w)
	}
	return nil
}

// keepRest keeps what was answered last, and the heaps that are still analyzed. A recording that ended before has been
// told of.
func (a *probing) keepRest(w *recording.Writer) {
	if a.heaps != nil {
		a.heaps.wait()
	}
	if err := a.keep(w); err != nil && !errors.Is(err, recording.ErrClosed) {
		a.status.say("highwater: the recording ends here, the program keeps running: %v", err)
	}
}

func (a *probing) gap(g sample.Gap) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gaps = append(a.gaps, g)
}

// sendRequests waits until the program answers at all, and times its answers from
// then on.
func (a *probing) sendRequests(ctx context.Context) {
	p := probe.Prober{Target: a.probe, Rate: a.rate, Keep: func(r sample.Request) {
		if a.onAnswered != nil && r.Failure == "" {
			a.onAnswered(r.Due.Add(r.Latency()))
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.requests) < mostWaiting {
			a.requests = append(a.requests, r)
		}
	}, Slower: func(rate float64, median time.Duration) {
		a.status.say("answers of %s take %s: %.3g requests a second from now on", a.probe.Name(), units.Duration(median), rate)
	}}
	if !a.probe.Here() {
		a.status.say("%s may be another machine: its latencies include the network", a.probe.Name())
	}
	began := time.Now()
	first, err := p.Await(ctx)
	if err != nil {
		a.gap(sample.Gap{From: began, What: "request latencies", Why: fmt.Sprintf("%s never answered: %v", a.probe.Name(), err)})
		return
	}
	waited := first.At.Sub(began)
	if first.Before > 0 {
		a.status.say("%s answered after %s", a.probe.Name(), units.Duration(waited))
	}
	if waited >= longWait {
		a.gap(sample.Gap{From: began, To: first.At, What: "request latencies before the first answer",
			Why: fmt.Sprintf("%s answered after %s", a.probe.Name(), units.Duration(waited))})
	}
	if first.Status >= 400 {
		a.status.say("%s answers with status %d, which is timed like any answer", a.probe.Name(), first.Status)
	}
	p.Run(ctx)
}
