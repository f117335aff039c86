package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// mostCandidates bounds how many lines are followed through the run.
const mostCandidates = 24

// candidates are the lines that may be to blame: those that hold most, and those that
// grew most.
func (e *Evidence) candidates() []int {
	by := func(figure func(*Site) int64) []int {
		order := make([]int, len(e.Sites))
		for i := range order {
			order[i] = i
		}
		sorting.Stable(order, func(a, b int) int { return cmp.Compare(figure(&e.Sites[b]), figure(&e.Sites[a])) })
		return order[:min(len(order), mostCandidates/2)]
	}
	out := by(func(s *Site) int64 { return int64(s.Bytes + s.Since) })
	for _, i := range by(func(s *Site) int64 { return s.Growth }) {
		if !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

// course reads who called each line that may be to blame, and how the lines stood at
// up to courseLength moments before.
func (l *loader) course(holders []heapdiff.Holder, p heapdiff.Profile, view heapdiff.View) error {
	held, under := map[*Site]heapdiff.Holder{}, heldUnder(p, view)
	for _, i := range l.e.candidates() {
		site := &l.e.Sites[i]
		at := slices.IndexFunc(holders, func(h heapdiff.Holder) bool { return h.Frame == site.innermost })
		held[site] = holders[at]
		l.callers(site, p.Sites[holders[at].Sites[0]], under)
	}
	for _, id := range l.momentsBefore() {
		m, err := l.Moment(id)
		if err != nil {
			return err
		}
		for i := range m.Processes {
			then := &m.Processes[i]
			if then.Key != l.e.Subject || then.Profile == nil {
				continue
			}
			if then.Goroutines != nil {
				l.e.Stood, l.e.StoodAt = then.Goroutines, m.At
			}
			if groups := withNumbers(then.Goroutines); groups != nil {
				l.e.Numbered = append(l.e.Numbered, lookAtIDs{m.At, groups})
			}
			begun, inside := begunOf(then.Goroutines), insideOf(then.Goroutines)
			for site, h := range held {
				s := l.stand(site, h, p.Sites, then, m.At)
				s.Begun, s.Inside = begun, inside
				site.Course = append(site.Course, s)
			}
		}
	}
	return nil
}

// begunOf counts goroutines by the function that they began with, and by the one with their go statement.
func begunOf(groups []sample.GoroutineGroup) map[string]int {
	out := map[string]int{}
	for _, g := range groups {
		out[bareName(goroutineOf(sample.Site{Stack: g.Where}))] += g.Count
		if creator := frameOf(g.CreatedAt).Func; creator != "" {
			out[begunBy+bareName(creator)] += g.Count
		}
	}
	return out
}

// bareName is a function's name as a capture of the heap has it, without type arguments: "lru.New[...]" for "lru.New[go.shape.int]"
// (runtime/symtab.go: funcNameForPrint).
func bareName(function string) string {
	i, j := strings.IndexByte(function, '['), strings.LastIndexByte(function, ']')
	if i < 0 || j <= i {
		return function
	}
	return function[:i] + "[...]" + function[j+1:]
}

// insideOf counts goroutines by the functions that they were inside of.
func insideOf(groups []sample.GoroutineGroup) map[string]int {
	out := map[string]int{}
	for _, g := range groups {
		seen := map[string]bool{}
		for _, l := range g.Where {
			for _, f := range l.Frames {
				if name := bareName(f.Func); !seen[name] {
					seen[name] = true
					out[name] += g.Count
				}
			}
		}
	}
	return out
}

// begunBy comes before the name of a function with a go statement.
const begunBy = "by "

// callers reads the functions that a line was called from.
func (l *loader) callers(site *Site, stack sample.Site, under map[string]sample.Bytes) {
	site.Callers = callersOf(stack, site.Function, l.module())
	m, n := l.e.process(), len(site.Callers)
	if first := goroutineOf(stack); m != nil && n > 1 && site.Callers[n-1].Function == first && mostWait(first, m.Goroutines) {
		site.Callers, site.Parked = site.Callers[:n-1], true
	}
	for i := range site.Callers {
		site.Callers[i].Under = under[site.Callers[i].Function]
	}
	if m := l.e.process(); m != nil {
		l.await(site, stack, m.Goroutines)
	}
}

// mostWait reports whether more than half of the goroutines that began with a function are blocked.
func mostWait(first string, groups []sample.GoroutineGroup) bool {
	all, waiting := 0, 0
	for _, g := range groups {
		if goroutineOf(sample.Site{Stack: g.Where}) != first {
			continue
		}
		if all += g.Count; g.State == "waiting" {
			waiting += g.Count
		}
	}
	return waiting*2 > all
}

// await adds the calls that a library's goroutine allocated the line's memory for.
func (l *loader) await(site *Site, s sample.Site, groups []sample.GoroutineGroup) {
	var calls []Caller
	if calls, site.Awaited = awaitedBy(s, groups, l.module()); site.Awaited == nil {
		return
	}
	for _, k := range calls {
		k.Under = site.Callers[len(site.Callers)-1].Under // of all that was read
		site.Callers = append(site.Callers, k)
	}
}

// module is the path of the subject's main module, "" if it is not known.
func (l *loader) module() string {
	if p := l.e.program(l.e.Subject); p != nil && p.Go != nil {
		return p.Go.Module
	}
	return ""
}

// callersOf are the functions of a stack from the blamed one outwards. The
// standard library's are left out: a server of net/http waits inside them for
// the next request. Of a goroutine that a library begins its first function is, too: it is a loop. That of the
// program's own goroutine may be a task, which comes and goes.
func callersOf(s sample.Site, blamed, module string) []Caller {
	var out []Caller
	var names []string
	for _, l := range s.Stack {
		for _, f := range l.Frames {
			owner := heapdiff.OwnerOf(f.Func, module)
			first := len(names) == 0
			if first && f.Func != blamed || slices.Contains(names, f.Func) {
				continue
			}
			names = append(names, f.Func)
			if first || f.Func != "main.main" && (owner == heapdiff.Own || owner == heapdiff.Dependency) {
				out = append(out, Caller{Function: f.Func, Own: owner == heapdiff.Own})
			}
		}
	}
	if n := len(out); n > 1 && out[n-1].Function == goroutineOf(s) && !out[n-1].Own {
		out = out[:n-1]
	}
	return out
}

// goroutineOf is the function that the stack's goroutine began with: what returns to
// runtime.goexit.
func goroutineOf(s sample.Site) string {
	for i := len(s.Stack) - 1; i >= 0; i-- {
		if frames := s.Stack[i].Frames; len(frames) > 0 && frames[len(frames)-1].Func != "runtime.goexit" {
			return frames[len(frames)-1].Func
		}
	}
	return ""
}

// heldUnder is what is held of all that was allocated under each function.
func heldUnder(p heapdiff.Profile, view heapdiff.View) map[string]sample.Bytes {
	held := make(map[string]sample.Bytes)
	for i, s := range p.Sites[:min(len(p.Sites), len(p.Counts))] {
		n := view.InUse(p.Counts[i])
		if n == 0 {
			continue
		}
		bytes, frames := amount(heapdiff.Scale(n, s.Size, p.Rate)), framesOf(s)
		for k, f := range frames {
			if !slices.ContainsFunc(frames[:k], func(before sample.Frame) bool { return before.Func == f.Func }) { // one that calls itself counts once
				held[f.Func] += bytes
			}
		}
	}
	return held
}

// momentsBefore are at most courseLength moments before the chosen one that hold
// a profile of the subject, evenly spread.
func (l *loader) momentsBefore() []int64 {
	var with []int64
	for _, m := range l.moments[:l.chosen] {
		if profileOf(m, l.e.Subject) != 0 {
			with = append(with, m.ID)
		}
	}
	return sampleEvenly(with, courseLength)
}

// stand is how a line stood then, by what was published then.
func (l *loader) stand(site *Site, h heapdiff.Holder, sites []sample.Site, then *sample.ProcessMoment, at time.Time) SiteSnapshot {
	s := SiteSnapshot{At: l.e.seconds(at), Goroutines: then.Goroutines != nil, Cycle: then.Profile.Cycle}
	for _, i := range h.Sites {
		if i < len(then.Profile.Counts) {
			n := then.Profile.Counts[i]
			s.Bytes += amount(heapdiff.Scale(heapdiff.Published.InUse(n), sites[i].Size, then.Profile.Rate))
			s.Freed += amount(heapdiff.Scale(int64(n.PubFrees), sites[i].Size, then.Profile.Rate))
			s.Allocated += amount(heapdiff.Scale(heapdiff.Now.Allocs(n), sites[i].Size, then.Profile.Rate))
		}
	}
	s.Calls, s.Unseen = inFlight(then.Goroutines, site.Callers)
	s.Made = made(then)
	return s
}

// made is the number of goroutines that a process has made, 0 where that is not known.
func made(p *sample.ProcessMoment) float64 {
	if p == nil || p.Metrics == nil {
		return 0
	}
	n, _ := p.Metrics.Get("/sched/goroutines-created:goroutines")
	return n
}
