package gostats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// maxThreads bounds allm: the runtime gives up at 10,000 threads unless
// debug.SetMaxThreads allows more.
const maxThreads = 1 << 16

// metricReader computes the figures of runtime/metrics.
type metricReader struct {
	*metricPlan
	vars             gather  // metricPlan's, with a buffer of one's own
	pTotals, mTotals []int64 // by index of perP, perM
}

// metricPlan is where the figures of a build lie. Nothing of it changes once it is made:
// processes of one build whose addresses are the same share it.
type metricPlan struct {
	reads   gather
	sums    []sum
	times   []timeHistogram
	sizes   []sizeHistogram
	missing []sample.MissingMetric

	allm, alllink          uint64
	pSize, mSize           uint64 // bytes of a P and an M that are read
	pStatus, pM, mCurg     uint64
	gStatus                uint64
	noP                    term // goroutines in system calls without a P
	ngsys                  term
	hasStates              bool // since Go 1.26 goroutines are counted by state
	timeBounds, sizeBounds []float64
	perP, perM             []term
}

// sum is one figure.
type sum struct {
	name  string
	terms []term
	short bool // of 32-bit fields alone, which may wrap
}

// term is one summand. Its address becomes a place in the gathered bytes.
type term struct {
	addr  uint64
	size  uint64 // bytes of a number: 4 or 8
	n     uint64 // numbers from addr on
	step  uint64 // 3 deltas that lie so far apart; 0: one
	per   byte   // 'P' or 'M': addr is an offset within each, index one of the totals
	index int
	minus bool
	isSet bool // counts 1 if the number is not 0
}

type timeHistogram struct {
	name                        string
	counts, underflow, overflow term
}

type sizeHistogram struct {
	name         string
	small, large term
}

// Metrics reads everything that runtime/metrics gives inside the program into
// dst; what cannot be had is named there. It takes some ten times as long as
// Counters. As in the program itself, figures of allocations leave out what Ps
// have not reported yet.
//
// Three figures cannot be equal to what the program sees: who asks is running,
// while seen from outside it waits for the answer.
func (s *Stats) Metrics(dst *sample.RuntimeMetrics) error {
	if err := s.why[FeatureMetrics]; err != nil {
		return err
	}
	m := &s.metrics
	var rt sample.Runtime
	if err := s.Counters(&rt); err != nil {
		return err
	}
	if err := m.vars.read(s.r.Memory()); err != nil {
		return err
	}
	defer m.vars.done()
	states, err := m.readPs(s.r.Memory(), s.counters.ps)
	if err != nil {
		return err
	}
	switch all, err := m.readMs(s.r.Memory(), maxThreads); {
	case err != nil:
		return err
	case !all:
		return fmt.Errorf("more than %d threads", maxThreads)
	}
	dst.At, dst.Missing = time.Now(), m.missing
	dst.Values = m.values(dst.Values[:0], &rt, states)
	dst.Histograms = m.histograms(dst.Histograms[:0])
	return nil
}

// values computes the figures.
func (m *metricReader) values(dst []sample.Metric, rt *sample.Runtime, states pStates) []sample.Metric {
	runnable := int64(0)
	for i := range m.sums {
		s := &m.sums[i]
		v := m.value(s)
		if s.name == "/sched/goroutines/runnable:goroutines" {
			runnable = v
		}
		dst = append(dst, sample.Metric{Name: s.name, Value: inUnit(s.name, v)})
	}
	dst = append(dst, sample.Metric{Name: "/gc/heap/goal:bytes", Value: float64(rt.HeapGoal)})
	total := int64(rt.Goroutines)
	if m.hasStates {
		total += m.of(m.ngsys) // since Go 1.26 with the runtime's own
		outside := states.syscall + max(m.of(m.noP), 0)
		dst = append(dst,
			sample.Metric{Name: "/sched/goroutines/running:goroutines", Value: float64(states.running)},
			sample.Metric{Name: "/sched/goroutines/not-in-go:goroutines", Value: float64(outside)},
			sample.Metric{Name: "/sched/goroutines/waiting:goroutines", Value: float64(max(total-runnable-states.running-outside, 0))},
		)
	}
	dst = append(dst, sample.Metric{Name: "/sched/goroutines:goroutines", Value: float64(total)})
	slices.SortFunc(dst, func(a, b sample.Metric) int { return cmp.Compare(a.Name, b.Name) })
	return dst
}

// inUnit converts nanoseconds where the name says seconds.
func inUnit(name string, v int64) float64 {
	if strings.HasSuffix(name, "seconds") {
		return float64(v) / 1e9
	}
	return float64(v)
}

func (m *metricReader) value(s *sum) (v int64) {
	for _, t := range s.terms {
		n := m.of(t)
		if t.minus {
			n = -n
		}
		v += n
	}
	if s.short {
		v = int64(int32(v))
	}
	return v
}

// of is the value of one term.
func (m *metricReader) of(t term) (v int64) {
	switch t.per {
	case 'P':
		return m.pTotals[t.index]
	case 'M':
		return m.mTotals[t.index]
	}
	deltas := uint64(1)
	if t.step > 0 {
		deltas = 3
	}
	for d := range deltas {
		for i := range t.n {
			v += t.number(m.vars.buf[t.addr+d*t.step+i*t.size:])
		}
	}
	return v
}

// number is the number at the start of b.
func (t term) number(b []byte) int64 {
	v := int64(gomem.Number{Size: t.size}.Of(b))
	if t.size == 4 {
		v = int64(int32(v))
	}
	if t.isSet && v != 0 {
		return 1
	}
	return v
}
