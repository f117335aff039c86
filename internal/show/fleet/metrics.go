package fleet

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Metrics writes what an agent knows now in the text format of Prometheus
// (https://prometheus.io/docs/instrumenting/exposition_formats/): of each program what the
// last point said, and how the agent itself is doing. What was not seen has no line.
func (c *Collector) Metrics(w io.Writer, spool SpoolStats, more More, now func() float64) error {
	c.mu.Lock()
	rows := make([]gauge, 0, len(c.latest))
	for _, g := range c.latest {
		rows = append(rows, g)
	}
	incidents := map[string]uint64{}
	for kind, n := range c.incidents {
		incidents[kind] = n
	}
	c.mu.Unlock()
	sorting.Stable(rows, func(a, b gauge) int { return cmp.Compare(a.labels, b.labels) })
	m := &exposition{}
	for _, one := range []struct {
		name, help string
		value      func(gauge) sample.Opt[uint64]
	}{
		{"highwater_resident_bytes", "Anonymous resident memory of a program.", func(g gauge) sample.Opt[uint64] { return g.point.Resident }},
		{"highwater_usage_bytes", "Charge of the memory cgroup of a program.", func(g gauge) sample.Opt[uint64] { return g.point.Usage }},
		{"highwater_limit_bytes", "Memory limit of a program.", func(g gauge) sample.Opt[uint64] { return g.point.Limit }},
		{"highwater_heap_live_bytes", "Heap that the last garbage collection found live.", func(g gauge) sample.Opt[uint64] { return g.point.HeapLive }},
		{"highwater_goroutines", "Goroutines of a program.", func(g gauge) sample.Opt[uint64] { return g.point.Goroutines }},
	} {
		m.head(one.name, one.help, "gauge")
		for _, g := range rows {
			if v := one.value(g); v.OK {
				m.line(one.name, g.labels, float64(v.V))
			}
		}
	}
	m.head("highwater_incidents_total", "Incidents that this agent has seen.", "counter")
	for _, kind := range []string{KindKill, KindCrash, KindPeak} {
		m.line("highwater_incidents_total", label("kind", kind), float64(incidents[kind]))
	}
	m.one("highwater_agent_watched", "Go programs that are watched now.", "gauge", float64(len(rows)))
	m.one("highwater_agent_spool_bytes", "Rows that wait for the store.", "gauge", float64(spool.Bytes))
	age := 0.0
	if !spool.Oldest.IsZero() {
		age = max(0, now()-float64(spool.Oldest.UnixMilli())/1000)
	}
	m.one("highwater_agent_spool_age_seconds", "For how long the oldest of them waits.", "gauge", age)
	m.one("highwater_agent_sent_batches_total", "Batches that the store took.", "counter", float64(spool.Sent))
	m.one("highwater_agent_refused_batches_total", "Batches that the store refused for good.", "counter", float64(spool.Refused))
	m.head("highwater_agent_dropped_rows_total", "Rows that the spool had no room for.", "counter")
	for _, t := range Tables() {
		m.line("highwater_agent_dropped_rows_total", label("table", t.Name), float64(spool.Dropped[t.Name]))
	}
	m.more(more)
	_, err := io.WriteString(w, m.text.String())
	return err
}

// More is what an agent knows of itself beside its rows.
type More struct {
	Unwatched map[string]int // programs that are not watched, by why
	Uploads   UploadStats
	Outlets   map[string]OutletCount
}

func (m *exposition) more(more More) {
	m.head("highwater_agent_unwatched", "Programs that are not watched, by why.", "gauge")
	for _, why := range slices.Sorted(maps.Keys(more.Unwatched)) {
		m.line("highwater_agent_unwatched", label("why", why), float64(more.Unwatched[why]))
	}
	m.one("highwater_agent_recordings_waiting", "Recordings that wait for the bucket.", "gauge", float64(more.Uploads.Waiting))
	m.one("highwater_agent_recordings_sent_total", "Recordings that the bucket took.", "counter", float64(more.Uploads.Sent))
	m.one("highwater_agent_recordings_dropped_total", "Recordings that there was no room for, or that the bucket refused.", "counter",
		float64(more.Uploads.Dropped))
	m.head("highwater_agent_told_total", "Incidents that were told beside the store, by to whom and how it went.", "counter")
	for _, name := range slices.Sorted(maps.Keys(more.Outlets)) {
		c := more.Outlets[name]
		m.line("highwater_agent_told_total", label("to", name)+","+label("how", "told"), float64(c.Told))
		m.line("highwater_agent_told_total", label("to", name)+","+label("how", "lost"), float64(c.Lost))
	}
}

// gauge is the last point of a process.
type gauge struct {
	labels string
	point  Point
}

// exposition is a page of metrics.
type exposition struct{ text strings.Builder }

func (m *exposition) head(name, help, kind string) {
	fmt.Fprintf(&m.text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (m *exposition) line(name, labels string, v float64) {
	fmt.Fprintf(&m.text, "%s{%s} %g\n", name, labels, v)
}

func (m *exposition) one(name, help, kind string, v float64) {
	m.head(name, help, kind)
	fmt.Fprintf(&m.text, "%s %g\n", name, v)
}

var escaped = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// label is a label of a metric, with its value as the format wants it.
func label(name, value string) string {
	return name + `="` + escaped.Replace(strings.ToValidUTF8(value, "\uFFFD")) + `"`
}

// labelsOf are those of a process. Without a pod, its pid tells it from others.
func labelsOf(p Process) string {
	list := []string{label("service", p.Service), label("version", p.Version)}
	if p.Pod == "" {
		return strings.Join(append(list, label("pid", fmt.Sprint(p.PID))), ",")
	}
	return strings.Join(append(list, label("namespace", p.Namespace), label("pod", p.Pod), label("container", p.Container), label("pid", fmt.Sprint(p.PID))), ",")
}
