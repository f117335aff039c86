package heapdiff

import (
	"time"

	"github.com/google/pprof/profile"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// GoroutinesToPprof is groups of goroutines in pprof's form: how many, as the
// goroutine profile of runtime/pprof has them, and the bytes of their stacks.
// Labels are those that every goroutine of a group carries; state and wait reason
// are labels, too. Those that were running, whose stacks nobody has read, stand in
// a function that says so.
func GoroutinesToPprof(groups []sample.GoroutineGroup, at time.Time, program sample.Program, comments ...string) *profile.Profile {
	var sites []sample.Site
	for i := range groups {
		sites = append(sites, sample.Site{Stack: groups[i].Where})
	}
	b := newBuilder(program, sites, at, comments)
	count := profile.ValueType{Type: "goroutine", Unit: "count"}
	b.of("goroutine", count, 1, &count, &profile.ValueType{Type: "stacks", Unit: "bytes"})
	for i := range groups {
		b.goroutines(&groups[i])
	}
	return b.out
}

// unread is where goroutines stand whose stacks were not read.
var unread = []sample.Location{{Frames: []sample.Frame{{Func: "(stack not read)"}}}}

func (b *builder) goroutines(g *sample.GoroutineGroup) {
	out := &profile.Sample{Value: []int64{int64(g.Count), int64(g.StackBytes)}, Label: map[string][]string{}}
	for _, l := range g.Labels {
		if l.Count == g.Count {
			out.Label[l.Key] = []string{l.Value}
		}
	}
	out.Label["state"] = []string{g.State}
	if g.Reason != "" {
		out.Label["reason"] = []string{g.Reason}
	}
	where := g.Where
	if len(where) == 0 {
		where = unread
	}
	for _, l := range where {
		out.Location = append(out.Location, b.location(l))
	}
	b.out.Sample = append(b.out.Sample, out)
}
