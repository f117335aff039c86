package trial

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/units"
)

// Kind says how a figure is printed.
type Kind int

// The kinds. Bytes and Nanoseconds are amounts, Share is between 0 and 1.
const (
	Count Kind = iota
	Bytes
	Nanoseconds
	Share
)

// Figure is one row of a comparison.
type Figure struct {
	Name   string // as in Run.Values and in benchmark output
	Title  string
	Kind   Kind
	Higher bool // more of it is better
	// bounds are the ends of a run by which all that is known of the figure is that it
	// is worse than any that was seen. Of other lost runs nothing is known.
	bounds []Ended
}

// stuck are the ends of runs that lived and did not come to their end.
var stuck = []Ended{Livelocked, TimedOut}

// figures are the rows, in the order in which they are shown.
var figures = []Figure{
	{Name: FigurePeak, Title: "peak memory", Kind: Bytes, bounds: []Ended{Killed, Livelocked}},
	{Name: FigureResident, Title: "resident", Kind: Bytes, bounds: []Ended{Killed, Livelocked}},
	{Name: FigureHeadroom, Title: "headroom", Kind: Bytes, Higher: true, bounds: []Ended{Killed, Livelocked}},
	{Name: FigureP50, Title: "p50", Kind: Nanoseconds, bounds: stuck},
	{Name: FigureP99, Title: "p99", Kind: Nanoseconds, bounds: stuck},
	{Name: FigureLoadP50, Title: "p50 as load says", Kind: Nanoseconds, bounds: stuck},
	{Name: FigureLoadP95, Title: "p95 as load says", Kind: Nanoseconds, bounds: stuck},
	{Name: FigureLoadP99, Title: "p99 as load says", Kind: Nanoseconds, bounds: stuck},
	{Name: FigureRequests, Title: "requests", Kind: Count, Higher: true},
	{Name: FigureTime, Title: "time", Kind: Nanoseconds, bounds: stuck},
	{Name: FigureGC, Title: "GC share of CPU", Kind: Share},
	{Name: FigureGCs, Title: "collections", Kind: Count},
	{Name: FigureCPU, Title: "CPU", Kind: Nanoseconds},
}

// The names of the figures that every trial has, where they were seen. Peak is the
// greatest charge of the cgroup without page cache, which the kernel takes back
// before it kills; headroom is what the limit leaves above it. Time is that of the
// load, or of the program where there is no load. The GC share is as the runtime
// books it, which on a busy machine is too much. The load's percentiles are as it
// prints them, where no probe measured.
const (
	FigurePeak     = "peak_bytes"
	FigureResident = "resident_bytes"
	FigureHeadroom = "headroom_bytes"
	FigureP50      = "p50_ns"
	FigureP99      = "p99_ns"
	FigureLoadP50  = "load_p50_ns"
	FigureLoadP95  = "load_p95_ns"
	FigureLoadP99  = "load_p99_ns"
	FigureRequests = "requests"
	FigureTime     = "time_ns"
	FigureGC       = "gc_share"
	FigureGCs      = "collections"
	FigureCPU      = "cpu_ns"
)

// latencyFigures are the figures that say how long answers took.
var latencyFigures = []string{FigureP50, FigureP99, FigureLoadP50, FigureLoadP95, FigureLoadP99}

// Latencies are those of some figures that say how long answers took.
func Latencies(values map[string]float64) map[string]float64 {
	found := map[string]float64{}
	for _, name := range latencyFigures {
		if took, ok := values[name]; ok {
			found[name] = took
		}
	}
	return found
}

// LatencyText prints them, "" where there are none.
func LatencyText(values map[string]float64) string {
	var parts []string
	for _, name := range latencyFigures {
		if took, ok := values[name]; ok {
			f := figureOf(name)
			parts = append(parts, f.Title+" "+f.Text(took))
		}
	}
	return strings.Join(parts, ", ")
}

// mostOwn bounds how many figures of a load's own are compared.
const mostOwn = 8

// Figures are the rows that some run has, the loads' own last.
func Figures(runs []Run) []Figure {
	var list []Figure
	for _, f := range figures {
		if slices.ContainsFunc(runs, func(r Run) bool { _, ok := r.Values[f.Name]; return ok }) {
			list = append(list, f)
		}
	}
	var own []string
	for _, r := range runs {
		for name := range r.Values {
			known := slices.ContainsFunc(figures, func(f Figure) bool { return f.Name == name })
			if !known && !slices.Contains(own, name) {
				own = append(own, name)
			}
		}
	}
	slices.Sort(own)
	for _, name := range own[:min(len(own), mostOwn)] {
		list = append(list, Figure{Name: name, Title: name})
	}
	return list
}

// Text prints a value of the figure for people.
func (f Figure) Text(v float64) string {
	switch f.Kind {
	case Bytes:
		return units.Size(int64(v))
	case Nanoseconds:
		return units.Duration(time.Duration(v))
	case Share:
		return fmt.Sprintf("%.1f%%", 100*v)
	}
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
