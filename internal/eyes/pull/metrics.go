package pull

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// metricsPath is where Prometheus looks by default.
const metricsPath = "/metrics"

// maxMetrics bounds an answer: 1 MiB is some ten thousand lines.
const maxMetrics = 4 << 20

// What an address can answer instead of metrics.
var (
	ErrNotMetrics  = errors.New("not Prometheus' text format")
	ErrNoMetrics   = errors.New("no counter and no gauge but the Go runtime's own is in it")
	ErrManyMetrics = fmt.Errorf("the answer is longer than %d MiB", maxMetrics>>20)
)

// MetricsEndpoint is where a program publishes its metrics.
type MetricsEndpoint struct{ Endpoint }

// NewMetricsEndpoint reads an address as NewEndpoint does; /metrics is the path
// where none is given.
func NewMetricsEndpoint(address string, timeout time.Duration) (*MetricsEndpoint, error) {
	e, err := newEndpoint(address, metricsPath, timeout)
	if err != nil {
		return nil, err
	}
	e.accept = textFormat
	return &MetricsEndpoint{*e}, nil
}

// Fetch reads the figures once. Its error says in words for a user what was there
// instead.
func (m *MetricsEndpoint) Fetch(ctx context.Context) ([]sample.Figure, error) {
	body, err := m.read(ctx, maxMetrics)
	if errors.Is(err, ErrTooLarge) {
		err = ErrManyMetrics
	}
	if err != nil {
		return nil, err
	}
	return readMetrics(body, time.Now())
}

// readMetrics reads Prometheus' text format. A figure is a whole family: the sum
// over its labels, so that a program with a label for each user has no more
// figures than another. Of a histogram or a summary it is the number of
// observations. What the Go client library and its neighbours say of the process
// is left out: highwater has read that from the source.
func readMetrics(text []byte, at time.Time) ([]sample.Figure, error) {
	if c := bytes.TrimSpace(text); len(c) > 0 && c[0] == '<' {
		return nil, fmt.Errorf("%w but a page in HTML", ErrNotMetrics)
	}
	families, err := parseMetrics(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotMetrics, err)
	}
	var list []sample.Figure
	for name, family := range families {
		if f, ok := figureOf(name, family); ok {
			f.At = at
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return nil, ErrNoMetrics
	}
	slices.SortFunc(list, func(a, b sample.Figure) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// ofProcess are the beginnings of names that github.com/prometheus/client_golang
// (collectors.NewGoCollector, NewProcessCollector, promhttp) and
// github.com/VictoriaMetrics/metrics give to figures of the process itself.
var ofProcess = []string{"go_", "process_", "promhttp_", "vm_app_", "up", "scrape_"}

// figureOf is the figure of a family; ok is false for one that tells nothing of the work.
func figureOf(name string, f *family) (figure sample.Figure, ok bool) {
	for _, start := range ofProcess {
		if strings.HasPrefix(name, start) && (strings.HasSuffix(start, "_") || name == start) {
			return figure, false
		}
	}
	return f.figure(name), f.seen && !math.IsNaN(f.sum) && !math.IsInf(f.sum, 0)
}
