package explain

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// without are ways in which evidence may be incomplete.
var without = map[string]func(*Evidence){
	"programs":       func(e *Evidence) { e.Programs = nil },
	"a known module": func(e *Evidence) { e.Programs[0].Go = &sample.GoProgram{} },
	"events":         func(e *Evidence) { e.Events = nil },
	"ticks":          func(e *Evidence) { e.Ticks = Ticks{} },
	"all but a tick": func(e *Evidence) { e.Ticks = firstTicks(e.Ticks, 1) },
	"values in any tick": func(e *Evidence) {
		for _, column := range columnsOf(&e.Ticks) {
			for i := range *column {
				(*column)[i] = math.NaN()
			}
		}
	},
	"every second value": func(e *Evidence) {
		for _, column := range columnsOf(&e.Ticks) {
			for i := 0; i < len(*column); i += 2 {
				(*column)[i] = math.NaN()
			}
		}
	},
	"collections": func(e *Evidence) { e.Cycles = nil },
	"all but one": func(e *Evidence) { e.Cycles = e.Cycles[:min(1, len(e.Cycles))] },
	"sites":       func(e *Evidence) { e.Sites, e.SiteView = nil, "none" },
	"stacks":      func(e *Evidence) { forSites(e, func(s *Site) { s.Stack, s.Function, s.File, s.Line = nil, "", "", 0 }) },
	"allocators":  func(e *Evidence) { e.Allocators = nil },
	"a course": func(e *Evidence) {
		for i := range e.Sites {
			e.Sites[i].Course = nil
		}
	},
	"spans":             func(e *Evidence) { e.Spans = nil },
	"a cgroup":          func(e *Evidence) { e.Moment.Cgroup = nil },
	"a limit":           func(e *Evidence) { forCgroup(e, func(c *sample.Cgroup) { c.Limit = sample.Opt[sample.Bytes]{} }) },
	"the charge's rows": func(e *Evidence) { forCgroup(e, func(c *sample.Cgroup) { c.Stat, c.Events = nil, nil }) },
	"processes":         func(e *Evidence) { e.Moment.Processes = nil },
	"the subject":       func(e *Evidence) { e.Subject = sample.ProcessKey{PID: 1} },
	"a runtime":         forProcesses(func(p *sample.ProcessMoment) { p.Go = nil }),
	"figures in it":     forProcesses(func(p *sample.ProcessMoment) { p.Go = &sample.Runtime{} }),
	"pages":             forProcesses(func(p *sample.ProcessMoment) { p.Residency = nil }),
	"any resident set":  forProcesses(func(p *sample.ProcessMoment) { p.Residency, p.Resident = nil, nil }),
	"a mark":            forProcesses(func(p *sample.ProcessMoment) { p.Live = nil }),
	"goroutines":        forProcesses(func(p *sample.ProcessMoment) { p.Goroutines = nil }),
	"their stacks": forProcesses(func(p *sample.ProcessMoment) {
		for i := range p.Goroutines {
			p.Goroutines[i].Where, p.Goroutines[i].Stack = nil, nil
		}
	}),
	"time":          func(e *Evidence) { e.End, e.Moment.At = e.Start, e.Start },
	"an order":      func(e *Evidence) { e.Moment.At = e.Start.Add(-time.Hour) },
	"all of a week": func(e *Evidence) { e.End = e.Start.Add(7 * 24 * time.Hour) },
}

func firstTicks(t Ticks, n int) Ticks {
	for _, column := range columnsOf(&t) {
		*column = (*column)[:min(n, len(*column))]
	}
	t.At = t.At[:min(n, len(t.At))]
	return t
}

func columnsOf(t *Ticks) []*[]float64 {
	return []*[]float64{&t.Usage, &t.PageCache, &t.Anon, &t.Available, &t.HeapLive, &t.HeapAlloc, &t.Native, &t.Goroutines,
		&t.AtLimit, &t.Faults, &t.Refaults, &t.Stalled, &t.Alloc, &t.CPU, &t.GC}
}

func forSites(e *Evidence, f func(*Site)) {
	for i := range e.Sites {
		f(&e.Sites[i])
	}
}

func forCgroup(e *Evidence, f func(*sample.Cgroup)) {
	if e.Moment.Cgroup != nil {
		f(e.Moment.Cgroup)
	}
}

func forProcesses(f func(*sample.ProcessMoment)) func(*Evidence) {
	return func(e *Evidence) {
		for i := range e.Moment.Processes {
			f(&e.Moment.Processes[i])
		}
	}
}

// Whatever is missing, there is an answer, and it is whole. Without the processes
// only the cgroup and the collections' course can speak.
func TestAnyPartOfTheEvidenceMayBeMissing(t *testing.T) {
	for name, run := range scenes {
		for what, remove := range without {
			s := run()
			for _, column := range columnsOf(&s.Ticks) {
				if *column == nil {
					*column = allNaN(len(s.Ticks.At)) // as Load has it
				}
			}
			remove(s.Evidence)
			a, err := Explain(s.Evidence, nil)
			if err != nil {
				t.Fatalf("%s without %s: %v", name, what, err)
			}
			t.Run(name+" without "+what, func(t *testing.T) { checkAnswer(t, a) })
			if v := a.Verdict; what == "processes" && !slices.Contains([]Class{Inconclusive, Healthy, PageCache, Shmem, Thrash, Leak}, v.Class) {
				t.Errorf("%s without %s: %s: %s", name, what, v.Class, v.Sentence)
			}
		}
	}
}

// Reasons that are errors of the reading are said in words.
func TestReasonsAreSaidInWords(t *testing.T) {
	for why, want := range map[string]string{
		"live objects: context deadline exceeded":                     unmarkedInTime,
		"read /proc/17861/exe: not a Go program: not a Go executable": "it is not a Go program",
		"its linker switched heap profiling off":                      "its linker switched heap profiling off",
	} {
		if got := plainly(why); got != want {
			t.Errorf("%q: %q", why, got)
		}
	}
}

// A mark that ran out of time is said once, in words.
func TestAMarkThatTookTooLongIsSaidInWords(t *testing.T) {
	s := newScene()
	s.noMark()
	s.Evidence.Gaps = []sample.Gap{{Process: subject, What: "what was live in shop", Why: "live objects: context deadline exceeded"}}
	var said []Gap
	for _, g := range gapsOf(newCase(s.Evidence)) {
		if strings.HasPrefix(g.What, "what was live") {
			said = append(said, g)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0].Why, "took too long, so the table shows the figure of the last GC") {
		t.Errorf("%+v", said)
	}
}
