package recording

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// metric is a row of the table metric: a name, once in a recording, and a
// histogram's bounds.
type metric struct {
	name   string
	bounds []float64 // nil: one figure
}

// putMetrics appends when metrics were read, and a JSON array of them:
//
//	[metric.id, value]                      one figure
//	[metric.id, [bucket, count, ...]]       a histogram's buckets that are not empty
func (w *Writer) putMetrics(row []driver.Value, m *sample.RuntimeMetrics) ([]driver.Value, error) {
	if m == nil {
		return append(row, nil, nil), nil
	}
	b := []byte{'['}
	for _, v := range m.Values {
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			continue
		}
		id, err := w.metric(v.Name, nil)
		if err != nil {
			return nil, err
		}
		b = fmt.Appendf(b, "[%d,", id)
		b = append(strconv.AppendFloat(b, v.Value, 'g', -1, 64), "],"...)
	}
	for _, h := range m.Histograms {
		id, err := w.metric(h.Name, h.Bounds)
		if err != nil {
			return nil, err
		}
		b = fmt.Appendf(b, "[%d,%s],", id, sparse(h.Counts))
	}
	if len(b) > 1 {
		b = b[:len(b)-1]
	}
	return append(row, w.when(m.At), string(append(b, ']'))), nil
}

// sparse is the counts that are not 0, each after its index.
func sparse(counts []uint64) string {
	var n numbers
	for i, c := range counts {
		if c != 0 {
			n.add(uint64(i))
			n.add(c)
		}
	}
	return n.json()
}

// metric is the row number of a name.
func (w *Writer) metric(name string, bounds []float64) (int64, error) {
	if id := w.metrics[name]; id != 0 {
		return id, nil
	}
	id, err := w.add(&tableMetric, name, boundList(bounds))
	if err == nil {
		w.metrics[name] = id
	}
	return id, err
}

// boundList is a JSON array; a bound that is infinite is null.
func boundList(bounds []float64) driver.Value {
	if bounds == nil {
		return nil
	}
	list := make([]*float64, len(bounds))
	for i := range bounds {
		if !math.IsInf(bounds[i], 0) {
			list[i] = &bounds[i]
		}
	}
	b, err := json.Marshal(list)
	if err != nil { // finite numbers always marshal
		panic(err)
	}
	return string(b)
}

// maxMetrics caps metrics, and the bounds of a histogram, of a foreign file: Go has
// some 70, and 163 bounds.
const maxMetrics = 1 << 11

var errMetrics = errors.New("no list of metrics")

// metricsOf reads what putMetrics wrote.
func (r *Reader) metricsOf(at time.Time, text string) (*sample.RuntimeMetrics, error) {
	err := r.rows(func(row []driver.Value) error {
		if row[0] != int64(len(r.metrics)+1) {
			return errStop
		}
		r.metrics = append(r.metrics, metric{str(row[1]), boundsOf(str(row[2]))})
		return nil
	}, r.sel(&tableMetric)+" WHERE id > ?1 ORDER BY id", int64(len(r.metrics)))
	if err != nil {
		return nil, err
	}
	m := &sample.RuntimeMetrics{At: at}
	if err := parseMetrics(m, text, r.metrics); err != nil {
		return nil, err
	}
	return m, nil
}

func boundsOf(text string) []float64 {
	var list []*float64
	if json.Unmarshal([]byte(text), &list) != nil || len(list) > maxMetrics {
		return nil
	}
	bounds := make([]float64, len(list))
	for i, p := range list {
		switch {
		case p != nil:
			bounds[i] = *p
		case i == 0:
			bounds[i] = math.Inf(-1)
		default:
			bounds[i] = math.Inf(1)
		}
	}
	return bounds
}

// parseMetrics reads a list of metrics; ErrMissing where a name is none of known.
func parseMetrics(m *sample.RuntimeMetrics, text string, known []metric) error {
	var rows [][2]json.RawMessage
	if json.Unmarshal([]byte(text), &rows) != nil || len(rows) > maxMetrics {
		return errMetrics
	}
	for _, row := range rows {
		id, err := strconv.ParseUint(string(row[0]), 10, 32)
		if err != nil {
			return errMetrics
		}
		if id < 1 || id > uint64(len(known)) {
			return fmt.Errorf("row %d of table metric: %w", id, ErrMissing)
		}
		name := known[id-1]
		if name.bounds == nil {
			var v float64
			if json.Unmarshal(row[1], &v) != nil {
				return errMetrics
			}
			m.Values = append(m.Values, sample.Metric{Name: name.name, Value: v})
			continue
		}
		h := sample.Histogram{Name: name.name, Bounds: name.bounds, Counts: make([]uint64, max(1, len(name.bounds))-1)}
		if err := dense(h.Counts, string(row[1])); err != nil {
			return err
		}
		m.Histograms = append(m.Histograms, h)
	}
	return nil
}

// dense reads what sparse wrote.
func dense(counts []uint64, text string) error {
	at, isCount := uint64(0), false
	err := eachNumber(text, func(n uint64) {
		switch {
		case !isCount:
			at = n
		case at < uint64(len(counts)):
			counts[at] = n
		}
		isCount = !isCount
	})
	if err != nil || isCount {
		return errMetrics
	}
	return nil
}
