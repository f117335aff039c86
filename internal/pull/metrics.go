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

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/highwater-go/highwater/internal/sample"
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
	e.accept = string(expfmt.NewFormat(expfmt.TypeTextPlain))
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
		return nil, fmt.Errorf("%w: %s", ErrNotMetrics, strings.TrimPrefix(err.Error(), "text format parsing "))
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

// parseMetrics is the library's parser. It panics at some texts, as version 0.70.1
// does at "#HELP A \n{}": to us that is text of another format.
func parseMetrics(text []byte) (families map[string]*dto.MetricFamily, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("its parser failed: %v", cause)
		}
	}()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(bytes.NewReader(text))
}

// ofProcess are the beginnings of names that github.com/prometheus/client_golang
// (collectors.NewGoCollector, NewProcessCollector, promhttp) and
// github.com/VictoriaMetrics/metrics give to figures of the process itself.
var ofProcess = []string{"go_", "process_", "promhttp_", "vm_app_", "up", "scrape_"}

// figureOf sums a family; ok is false for one that tells nothing of the work.
func figureOf(name string, family *dto.MetricFamily) (f sample.Figure, ok bool) {
	for _, start := range ofProcess {
		if strings.HasPrefix(name, start) && (strings.HasSuffix(start, "_") || name == start) {
			return f, false
		}
	}
	f.Name, f.Kind = name, sample.CounterKind
	switch family.GetType() {
	case dto.MetricType_HISTOGRAM, dto.MetricType_GAUGE_HISTOGRAM, dto.MetricType_SUMMARY:
		f.Name += "_count"
	case dto.MetricType_GAUGE:
		f.Kind = sample.GaugeKind
	case dto.MetricType_UNTYPED:
		if !strings.HasSuffix(name, "_total") && !strings.HasSuffix(name, "_count") {
			f.Kind = sample.GaugeKind
		}
	}
	for _, m := range family.GetMetric() {
		f.Value += valueOf(m)
	}
	return f, !math.IsNaN(f.Value) && !math.IsInf(f.Value, 0)
}

// valueOf is what one line of a family adds; the getters of a part that is absent
// give 0.
func valueOf(m *dto.Metric) float64 {
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue() +
		float64(m.GetHistogram().GetSampleCount()) + float64(m.GetSummary().GetSampleCount())
}
