package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/pull"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// readMetrics reads the program's metrics now and then, and keeps those that move.
func (a *probing) readMetrics(ctx context.Context) {
	m := metricsReader{probing: a, chooser: pull.Chooser{Most: mostFigures}, began: time.Now()}
	for {
		began := time.Now()
		m.read(ctx)
		wait := max(metricsEvery, metricsShare*time.Since(began))
		if m.answers == 0 {
			wait = untilAnswer
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			m.end()
			return
		case <-timer.C:
		}
	}
}

// metricsReader is what is known of the program's metrics so far.
type metricsReader struct {
	*probing
	chooser pull.Chooser
	began   time.Time
	names   []string
	answers int
	failed  error     // since the last answer
	since   time.Time // of failed
}

func (m *metricsReader) read(ctx context.Context) {
	figures, err := m.metrics.Fetch(ctx)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		if m.failed == nil {
			m.since = time.Now()
		}
		m.failed = err
		return
	}
	if m.failed != nil && m.answers > 0 {
		m.gap(sample.Gap{From: m.since, To: time.Now(), What: "the program's own metrics", Why: fmt.Sprintf("%s: %v", m.metrics.Name(), m.failed)})
	}
	m.failed = nil
	m.answers++
	keep, names := m.chooser.Choose(figures)
	if len(names) > 0 {
		m.names = append(m.names, names...)
		m.status.say("recording from %s: %s", m.metrics.Name(), some(names, 6))
	}
	m.mu.Lock()
	if len(m.figures) < mostWaiting {
		m.figures = append(m.figures, keep...)
	}
	m.mu.Unlock()
}

// end says what was missing.
func (m *metricsReader) end() {
	why := ""
	switch {
	case m.answers == 0 && m.failed == nil:
		why = "no answer in time"
	case m.answers == 0:
		why = m.failed.Error()
	case len(m.names) == 0:
		why = "none of them moved"
	case m.chooser.Left() > 0:
		m.gap(sample.Gap{From: m.began, What: fmt.Sprintf("%d of the program's own metrics", m.chooser.Left()),
			Why: fmt.Sprintf("they moved too, but %d are kept at most", mostFigures)})
	}
	if why != "" {
		m.gap(sample.Gap{From: m.began, What: "the program's own metrics", Why: fmt.Sprintf("%s: %s", m.metrics.Name(), why)})
	}
}

// some is the first names of a list, and how many more there are.
func some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
