package gostats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// attach finds every figure that the version has.
func (m *metricReader) attach(s *Stats, find *gomem.Resolver) (err error) {
	if err := s.why[FeatureCounters]; err != nil {
		return err
	}
	m.metricPlan, err = gobin.Shared(s.r.Binary(), s.r.Bias(), func() (*metricPlan, error) {
		plan := &metricPlan{}
		return plan, plan.find(find)
	})
	if err != nil {
		return err
	}
	m.vars = m.reads
	m.pTotals, m.mTotals = make([]int64, len(m.perP)), make([]int64, len(m.perM))
	return m.try(s)
}

// find makes the plan.
func (m *metricPlan) find(find *gomem.Resolver) error {
	m.allm, m.alllink = find.Addr("allm"), find.Offset("m", "alllink")
	m.pSize, m.mSize = find.Size("p"), find.Size("m")
	if err := find.Err(); err != nil {
		return err
	}
	if m.pSize > gomem.WindowSize || m.mSize > gomem.WindowSize {
		return fmt.Errorf("a P of %d bytes, an M of %d", m.pSize, m.mSize)
	}
	m.timeBounds, m.sizeBounds = timeBounds(), sizeBounds()
	m.resolveSums(find)
	m.resolveStates(find)
	m.resolveHistograms(find)
	for _, u := range unreadable {
		m.missing = append(m.missing, sample.MissingMetric{Name: u.name, Why: u.why})
	}
	m.plan()
	return nil
}

// try reads what there is to read, but of few threads: of ten thousand it would take
// 20 ms.
func (m *metricReader) try(s *Stats) error {
	if err := m.vars.read(s.r.Memory()); err != nil {
		return err
	}
	m.vars.done()
	if _, err := m.readPs(s.r.Memory(), s.counters.ps); err != nil {
		return err
	}
	_, err := m.readMs(s.r.Memory(), 16)
	return err
}

func (m *metricPlan) resolveSums(find *gomem.Resolver) {
	for _, f := range formulas {
		s := sum{name: f.name, short: true}
		minus := false
		for _, w := range strings.Fields(f.sum) {
			switch w {
			case "+", "-":
				minus = w == "-"
			default:
				if t, ok := m.term(find, w); ok {
					t.minus = minus
					s.terms = append(s.terms, t)
					s.short = s.short && t.size == 4
				}
			}
		}
		if !m.miss(f.name, find) {
			m.sums = append(m.sums, s)
		}
	}
}

// miss notes what a figure lacks, if anything.
func (m *metricPlan) miss(name string, find *gomem.Resolver) bool {
	refused := find.Refused
	err := find.Err()
	if err != nil {
		m.missing = append(m.missing, sample.MissingMetric{Name: name, Why: err.Error(), Refused: refused})
	}
	return err != nil
}

// resolveStates finds what goroutines are counted by.
func (m *metricPlan) resolveStates(find *gomem.Resolver) {
	m.noP, _ = m.term(find, "sched.nGsyscallNoP")
	m.ngsys, _ = m.term(find, "sched.ngsys")
	m.pStatus, m.pM = find.Offset("p", "status"), find.Offset("p", "m")
	m.mCurg, m.gStatus = find.Offset("m", "curg"), find.Offset("g", "atomicstatus")
	m.hasStates = !m.miss("/sched/goroutines/{running,waiting,not-in-go}:goroutines", find)
}

func (m *metricPlan) resolveHistograms(find *gomem.Resolver) {
	for _, h := range timeHistograms {
		t := timeHistogram{name: h.name}
		t.counts, _ = m.term(find, h.place+".counts[]")
		t.underflow, _ = m.term(find, h.place+".underflow")
		t.overflow, _ = m.term(find, h.place+".overflow")
		known := slices.ContainsFunc(m.times, func(t timeHistogram) bool { return t.name == h.name })
		if known {
			find.Err()
		} else if !m.miss(h.name, find) && t.counts.n+3 == uint64(len(m.timeBounds)) {
			m.times = append(m.times, t)
		}
	}
	m.missing = slices.DeleteFunc(m.missing, func(missing sample.MissingMetric) bool {
		return slices.ContainsFunc(m.times, func(t timeHistogram) bool { return t.name == missing.Name })
	})
	for _, h := range sizeHistograms {
		s := sizeHistogram{name: h.name}
		s.small, _ = m.term(find, h.small+"[]")
		s.large, _ = m.term(find, h.large)
		if !m.miss(h.name, find) && s.small.n+1 == uint64(len(m.sizeBounds)) {
			m.sizes = append(m.sizes, s)
		}
	}
}

// structs are the variables that fields are looked up in, by their short names.
var structs = map[string]struct{ variable, typ, base string }{
	"heap":     {"memstats", "heapStatsDelta", "mstats.heapStats"},
	"stats":    {"memstats", "mstats", ""},
	"gc":       {"gcController", "gcControllerState", ""},
	"cpu":      {"work", "cpuStats", "workType.cpuStats"},
	"sched":    {"sched", "schedt", ""},
	"mheap":    {"mheap_", "mheap", ""},
	"limiter":  {"gcCPULimiter", "gcCPULimiterState", ""},
	"cleanups": {"gcCleanups", "cleanupQueue", ""},
	"P":        {"", "p", ""},
	"M":        {"", "m", ""},
}

// term looks up one word of a formula; ok is false if it may be left out, or if
// find notes what is missing.
func (m *metricPlan) term(find *gomem.Resolver, w string) (t term, ok bool) {
	w, array := strings.CutSuffix(w, "[]")
	w, optional := strings.CutSuffix(w, "?")
	w, t.isSet = strings.CutSuffix(w, "!")
	place, fields, isField := strings.Cut(w, ".")
	if !isField {
		t.addr, t.size, t.n = find.Addr(w), 8, 1
		if slices.Contains(halves, w) {
			t.size = 4
		}
		return m.add(find, t, w)
	}
	at := structs[place]
	for field := range strings.SplitSeq(fields, "|") {
		off, known := find.Layout.Offset("runtime."+at.typ, field)
		size, _ := find.Layout.FieldSize("runtime."+at.typ, field)
		if !known {
			continue
		}
		t.addr, t.size, t.n = off, size, 1
		if array {
			t.size, t.n = 8, size/8
		}
		if at.variable == "" {
			return m.addPer(find, t, place[0], w)
		}
		t.addr += find.Addr(at.variable)
		if typ, field, ok := strings.Cut(at.base, "."); ok {
			t.addr += find.Offset(typ, field)
		}
		if place == "heap" {
			t.step = find.Size("heapStatsDelta")
		}
		return m.add(find, t, w)
	}
	if !optional {
		find.MissField(at.typ + "." + fields)
	}
	return t, false
}

// add asks for the term's bytes.
func (m *metricPlan) add(find *gomem.Resolver, t term, name string) (term, bool) {
	if len(find.Missing) > 0 {
		return t, false
	}
	if t.size != 4 && t.size != 8 || t.n > 1<<10 {
		find.Miss("runtime." + name + ": not a number")
		return t, false
	}
	m.reads.add(t.addr, t.size*t.n)
	if t.step > 0 {
		m.reads.add(t.addr+2*t.step, t.size*t.n)
		m.reads.add(t.addr+t.step, t.size*t.n)
	}
	return t, true
}

// addPer adds a field of every P or M.
func (m *metricPlan) addPer(find *gomem.Resolver, t term, per byte, name string) (term, bool) {
	list, size := &m.perP, m.pSize
	if per == 'M' {
		list, size = &m.perM, m.mSize
	}
	if t.size != 4 && t.size != 8 || t.addr+t.size > size {
		find.Miss(name + ": not a number")
		return t, false
	}
	*list = append(*list, t)
	t.per, t.index = per, len(*list)-1
	if t.isSet {
		t.size = 4
	}
	return t, true
}

// plan turns addresses into places in the gathered bytes. The deltas of
// heapStats lie near each other, so that one read has them all and their
// distance stays the same.
func (m *metricPlan) plan() {
	m.reads.plan()
	place := func(t *term) {
		if t.per == 0 && t.n > 0 {
			t.addr = m.reads.at(t.addr)
		}
	}
	for i := range m.sums {
		for k := range m.sums[i].terms {
			place(&m.sums[i].terms[k])
		}
	}
	for i := range m.times {
		place(&m.times[i].counts)
		place(&m.times[i].underflow)
		place(&m.times[i].overflow)
	}
	for i := range m.sizes {
		place(&m.sizes[i].small)
		place(&m.sizes[i].large)
	}
	if m.hasStates {
		place(&m.noP)
		place(&m.ngsys)
	}
}
