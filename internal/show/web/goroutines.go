package web

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
	"github.com/highwater-go/highwater/internal/words/units"
)

// Goroutines are those that stand at one place.
type Goroutines struct {
	State  string   `json:"state"`
	Count  int      `json:"count"`
	Bytes  int64    `json:"bytes"`  // of their stacks
	Oldest float64  `json:"oldest"` // longest wait in seconds, 0: not known
	Own    string   `json:"own"`    // the innermost function of the program's own code
	Stack  []string `json:"stack"`  // innermost first
	By     string   `json:"by"`     // who started them
}

// mostGroups bounds the groups, mostCalls the calls of each.
const (
	mostGroups = 60
	mostCalls  = 24
)

func goroutinesOf(groups []sample.GoroutineGroup, module string) []Goroutines {
	groups = slices.Clone(groups)
	sorting.Stable(groups, func(a, b sample.GoroutineGroup) int { return cmp.Compare(b.Count, a.Count) })
	out := []Goroutines{}
	for _, g := range groups[:min(len(groups), mostGroups)] {
		one := Goroutines{State: g.State, Count: g.Count, Bytes: int64(g.StackBytes), Oldest: g.Oldest.Seconds(), Stack: []string{}}
		if g.Reason != "" {
			one.State = g.Reason
		}
		for _, l := range g.Where {
			for _, f := range l.Frames {
				one.call(f, module)
			}
		}
		if at := g.CreatedAt.Frames; len(at) > 0 {
			one.By = at[0].Func + " " + place(at[0])
		}
		out = append(out, one)
	}
	return out
}

func (g *Goroutines) call(f sample.Frame, module string) {
	if g.Own == "" && heapdiff.OwnerOf(f.Func, module) == heapdiff.Own {
		g.Own = f.Func + " " + place(f)
	}
	if len(g.Stack) < mostCalls {
		g.Stack = append(g.Stack, f.Func+" "+place(f))
	}
}

// settingsOf is how the Go runtime was set and stood.
// profileRate is how often the heap profile takes an allocation.
func profileRate(rate int64) string {
	switch rate {
	case 0:
		return "off"
	case 1:
		return "every allocation"
	}
	return "1 per " + units.Limit(sample.Bytes(rate))
}

func settingsOf(g *sample.Runtime) []Setting {
	limit := "not set"
	if g.MemoryLimit != sample.NoMemoryLimit {
		limit = units.Size(g.MemoryLimit)
	}
	gogc := fmt.Sprint(g.GOGC)
	if g.GOGC < 0 {
		gogc = "off"
	}
	return []Setting{{"GOGC", gogc}, {"GOMEMLIMIT", limit}, {"GC target", units.Size(g.HeapGoal)}, {"GCs", fmt.Sprint(g.NumGC)},
		{"goroutines", fmt.Sprint(g.Goroutines)}, {"heap profile", profileRate(g.ProfileRate)}}
}
