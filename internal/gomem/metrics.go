package gomem

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/sample"
)

// maxThreads bounds allm: the runtime gives up at 10,000 threads unless
// debug.SetMaxThreads allows more.
const maxThreads = 1 << 16

// metricReader computes the figures of runtime/metrics.
type metricReader struct {
	vars    gather
	sums    []sum
	times   []timeHistogram
	sizes   []sizeHistogram
	missing []sample.MissingMetric

	allp, allm, alllink    uint64
	pSize, mSize           uint64 // bytes of a P and an M that are read
	pStatus, pM, mCurg     uint64
	gStatus                uint64
	noP                    term // goroutines in system calls without a P
	ngsys                  term
	hasStates              bool // since Go 1.26 goroutines are counted by state
	timeBounds, sizeBounds []float64
	pTotals, mTotals       []int64 // by index of perP, perM
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
func (r *Runtime) Metrics(dst *sample.RuntimeMetrics) error {
	if err := r.why[FeatureMetrics]; err != nil {
		return err
	}
	m := &r.metrics
	var rt sample.Runtime
	if err := r.Counters(&rt); err != nil {
		return err
	}
	if err := m.vars.read(r.mem); err != nil {
		return err
	}
	states, err := m.readPs(r.mem, r.counters.ps)
	if err != nil {
		return err
	}
	if err := m.readMs(r.mem); err != nil {
		return err
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
	v := int64(number{0, t.size}.of(b))
	if t.size == 4 {
		v = int64(int32(v))
	}
	if t.isSet && v != 0 {
		return 1
	}
	return v
}

// histograms copies the counts out.
func (m *metricReader) histograms(dst []sample.Histogram) []sample.Histogram {
	for i := range m.times {
		h := &m.times[i]
		counts := make([]uint64, 0, len(m.timeBounds))
		counts = append(counts, uint64(m.of(h.underflow)))
		for k := range h.counts.n {
			counts = append(counts, uint64(m.of(h.counts.item(k))))
		}
		counts = append(counts, uint64(m.of(h.overflow)))
		dst = append(dst, sample.Histogram{Name: h.name, Bounds: m.timeBounds, Counts: counts})
	}
	for i := range m.sizes {
		h := &m.sizes[i]
		counts := make([]uint64, 0, len(m.sizeBounds))
		for k := uint64(1); k < h.small.n; k++ { // class 0 is that of large objects, which are counted apart
			counts = append(counts, uint64(m.of(h.small.item(k))))
		}
		counts = append(counts, uint64(m.of(h.large)))
		dst = append(dst, sample.Histogram{Name: h.name, Bounds: m.sizeBounds, Counts: counts})
	}
	slices.SortFunc(dst, func(a, b sample.Histogram) int { return cmp.Compare(a.Name, b.Name) })
	return dst
}

// item is the k-th number alone.
func (t term) item(k uint64) term {
	t.addr, t.n = t.addr+k*t.size, 1
	return t
}

// pStates counts Ps by what their goroutine does.
type pStates struct{ running, syscall int64 }

// pRunning is the status of a P that runs a goroutine (runtime/runtime2.go).
const pRunning = 1

// readPs sums the Ps' fields.
func (m *metricReader) readPs(mem memory, ps []uint64) (states pStates, err error) {
	clear(m.pTotals)
	buf := make([]byte, m.pSize)
	for _, p := range ps {
		if err := mem.read(p, buf); err != nil {
			return states, err
		}
		for i, t := range m.perP {
			m.pTotals[i] += t.number(buf[t.addr:])
		}
		if m.hasStates && half(buf, m.pStatus) == pRunning {
			if m.inSyscall(mem, word(buf, m.pM)) {
				states.syscall++
			} else {
				states.running++
			}
		}
	}
	return states, nil
}

// inSyscall says whether the goroutine that an M runs is in a system call.
func (m *metricReader) inSyscall(mem memory, addr uint64) bool {
	g, err := mem.u64(addr + m.mCurg)
	if err != nil || g == 0 {
		return false
	}
	status, err := mem.u32(g + m.gStatus)
	return err == nil && status&^statusScan == statusSyscall
}

// readMs sums the threads' fields.
func (m *metricReader) readMs(mem memory) error {
	clear(m.mTotals)
	buf := make([]byte, m.mSize)
	at, err := mem.u64(m.allm)
	for n := 0; err == nil && at != 0; n++ {
		if n == maxThreads {
			return fmt.Errorf("more than %d threads", maxThreads)
		}
		if err = mem.read(at, buf); err != nil {
			break
		}
		for i, t := range m.perM {
			m.mTotals[i] += t.number(buf[t.addr:])
		}
		at = word(buf, m.alllink)
	}
	return err
}

// timeBounds are the runtime's bounds of durations, in seconds: from 2^8 ns on
// four steps for each power of two, up to 2^47 ns (runtime/histogram.go).
func timeBounds() []float64 {
	const minBits, maxBits, steps = 9, 48, 4
	b := []float64{math.Inf(-1)}
	for j := range steps {
		b = append(b, float64(j<<(minBits-3))/1e9)
	}
	for i := minBits; i < maxBits; i++ {
		for j := range steps {
			b = append(b, float64(1<<(i-1)+j<<(i-3))/1e9)
		}
	}
	return append(b, float64(uint64(1)<<(maxBits-1))/1e9, math.Inf(1))
}

// sizeBounds are those of objects: a class holds what is larger than the one
// before it.
func sizeBounds() []float64 {
	b := []float64{1}
	for _, size := range sizeClasses {
		b = append(b, size+1)
	}
	return append(b, math.Inf(1))
}
