package explain

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/measure/series"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// pile is goroutines that became more and more, and most of which wait at one
// place.
type pile struct {
	first, last float64 // goroutines before the rise and at the moment
	span        float64 // seconds that the rise took
	released    bool    // they ended when the program did, and not before

	at        sample.Frame // where they wait
	reason    string       // the runtime's wait reason
	inC       bool         // they are in a call of C, for which the runtime has no reason
	made      sample.Frame // the go statement, the zero frame if unknown
	waiting   int
	unbegun   int           // those that have not begun to run
	together  int           // with those at other places of which there are about as many: a thing may have several goroutines
	read      int           // goroutines of which it is known where they stood
	oldest    time.Duration // the longest wait of one of them
	functions map[string]bool

	stacks, held sample.Bytes // their stacks; what was allocated in their functions and is held
	retained     bool         // held is what they retain, by a capture of the heap

	left     leavers // of those that waited there before
	followed bool    // that is known
}

// grewWith is how much the live heap grew while the number of goroutines did: what follows that
// number is theirs, wherever it was allocated.
func (c *Case) grewWith() sample.Bytes {
	var n, live []float64
	at, column := c.untilMoment(c.Ticks.Goroutines)
	for _, p := range c.curve.points {
		if len(at) > 0 && p.at >= at[0] {
			n, live = append(n, column[nearestTo(at, p.at)]), append(live, p.live)
		}
	}
	if len(n) < int(enoughReadings.v()) || correlation(n, live) < sameCourse.v() {
		return 0
	}
	return sample.Bytes(max(0, c.rise.grown))
}

// partly reports whether most goroutines could not be read. Two seconds after a kill the kernel takes the memory of who
// is still there, whoever looks at it (mm/oom_kill.c, OOM_REAPER_DELAY), and a starved machine may need longer for the
// stacks.
func (p *pile) partly() bool { return float64(p.read)*5 < p.last*4 }

// risenGoroutines measures the rise of the number of goroutines up to the moment,
// and says what speaks against it, "" if nothing does.
func (c *Case) risenGoroutines() (p pile, reason string) {
	at, n := c.untilMoment(c.Ticks.Goroutines)
	if c.g != nil && c.g.Goroutines > 0 {
		at, n = append(at, c.seconds(c.Moment.At)), append(n, float64(c.g.Goroutines))
	}
	if len(n) == 0 {
		return p, "the number of goroutines was not read"
	}
	at, n, p.released = c.beforeItsEnd(at, n)
	low, high := series.Min(n), series.Max(n)
	p.first, p.last = n[low], n[len(n)-1]
	if p.last >= stillRunning.v()*n[high] {
		p.last = n[high]
	}
	grown := p.last - p.first
	if waves := series.Waves(n, max(fewestPiled.v()/2, 0.2*n[high])); len(waves) > 1 || len(waves) == 1 && waves[0].After != series.None {
		return p, fmt.Sprintf("the number of goroutines fell again after %.0f", n[waves[0].Peak])
	}
	if grown < c.fewestOfPile(grown) || grown < 0.5*p.last {
		return p, fmt.Sprintf("the number of goroutines did not grow (%.0f at first, %.0f at last)", n[0], p.last)
	}
	if later, ok := c.fewestLater(); ok && later <= p.first+grown/2 {
		return p, fmt.Sprintf("the number of goroutines fell back to %.0f after the %s", later, c.momentName())
	}
	from := low
	for from+1 < len(n) && n[from+1] <= p.first+0.05*grown {
		from++
	}
	p.span = at[len(at)-1] - at[from]
	if !c.goesOnRising(p, at, n, from) {
		return p, fmt.Sprintf("the number of goroutines stopped growing (%.0f for the last part of %s)", p.last, seconds(p.span))
	}
	return p, ""
}

// goesOnRising reports whether the number of goroutines rises from an index on, in the last third of that time, too.
func (c *Case) goesOnRising(p pile, at, n []float64, from int) bool {
	third, last := n[nearestTo(at, at[from]+2*p.span/3)], p.last
	if c.endedWell() { // those that only its end has begun, as context.AfterFunc does, are no trend
		last = min(last, n[max(0, nearestTo(at, at[len(at)-1]-wrapUp.v()*p.span)-1)])
	}
	return series.Line(at[from:], n[from:]).Low > 0 && last-third >= 0.1*(p.last-p.first)
}

// beforeItsEnd leaves out what came after the greatest number where a program that ended by itself had it, or nearly, until its very end:
// those goroutines were told to end with it, and would not have ended in a program that goes on.
func (c *Case) beforeItsEnd(at, n []float64) (earlier, fewer []float64, released bool) {
	high := series.Max(n)
	for most := n[high]; high+1 < len(n) && n[high+1] >= stillRunning.v()*most; {
		high++
	}
	if !c.endedWell() || at[high] < (1-wrapUp.v())*c.outcome.Elapsed {
		return at, n, false
	}
	return at[:high+1], n[:high+1], n[len(n)-1] < n[high]/2
}

// fewestOfPile is how many goroutines must have been added: fewer where the live heap grew by much for each.
func (c *Case) fewestOfPile(grown float64) float64 {
	if c.rise.grown >= heldByEach.v()*grown {
		return fewestLarge.v()
	}
	return fewestPiled.v()
}

// fewestLater is the least number of goroutines after the moment, until the program
// was asked to end or wound up by itself; ok is false where none was read.
func (c *Case) fewestLater() (least float64, ok bool) {
	from, to := c.seconds(c.Moment.At), math.Inf(1)
	if sent, stopped := firstEvent(c.Evidence, sample.EventSignal); stopped {
		to = c.seconds(sent.At)
	}
	if at, n := c.until(math.Inf(1), c.Ticks.Goroutines); len(n) > 0 {
		if at, _, released := c.beforeItsEnd(at, n); released {
			to = min(to, at[len(at)-1])
		}
	}
	for i, n := range c.Ticks.Goroutines {
		if at := c.Ticks.At[i]; at > from && at < to && n > 0 && (!ok || n < least) { // NaN compares false
			least, ok = n, true
		}
	}
	return least, ok
}

// waiters finds the function in which most goroutines wait, the line where most of
// them do, and what they hold. A function that starts two goroutines for each
// thing, as net/http does for a connection, is one place.
func (c *Case) waiters(p *pile) {
	module := c.module()
	groups := c.standing(p)
	p.countWaiting(groups, module)
	c.preferHolders(p)
	p.functions = map[string]bool{p.at.Func: true}
	most := 0
	for _, g := range groups {
		if waitsAt(g, module).Func != p.at.Func || g.State == "running" {
			continue
		}
		p.stacks += g.StackBytes
		p.oldest = max(p.oldest, g.Oldest)
		switch {
		case notBegun(g):
			p.unbegun += g.Count
			p.made = cmp.Or(p.made, frameOf(g.CreatedAt))
		case g.Count > most:
			most, p.reason, p.made, p.at = g.Count, g.Reason, frameOf(g.CreatedAt), waitsAt(g, module)
			_, p.inC = callerOfC(g.Where, module)
		}
		p.passThrough(g.Where, module)
	}
	if p.held, p.retained = c.heldByGoroutines(p); p.retained {
		return
	}
	for _, s := range c.Sites {
		if p.functions[s.Function] && s.Function != "main.main" || !s.Own && passes(s.Stack, p.at.Func) {
			p.held += s.Bytes
		}
	}
}

// standing are the goroutines of the moment or, where few of them could be read, those of the look before.
func (c *Case) standing(p *pile) []sample.GoroutineGroup {
	if c.stoodBefore(p) {
		return c.Stood
	}
	return c.proc.Goroutines
}

func (c *Case) stoodBefore(p *pile) bool {
	read := goroutinesOf(c.proc.Goroutines)
	now := &pile{read: read, last: p.last}
	return now.partly() && goroutinesOf(c.Stood) > read
}

func goroutinesOf(groups []sample.GoroutineGroup) (n int) {
	for _, g := range groups {
		n += g.Count
	}
	return n
}

// waiters is goroutines that wait in one function.
type waiters struct {
	at    sample.Frame // of the first group
	count int
	each  int // those of the largest group: a thing may have several goroutines in one function
	own   int // 0: inside the standard library alone; 1: inside a module or the program's own code; 2: which started them, too
}

// countWaiting counts goroutines by the function in which they wait, and keeps the one with most; of several with as
// many that which the program itself started, else one that is not inside the standard library alone: a request that waits has a goroutine
// of its caller's, two of its connection's, and those of the server's if that is the same program.
func (p *pile) countWaiting(groups []sample.GoroutineGroup, module string) {
	all := map[string]*waiters{}
	for _, g := range groups {
		p.read += g.Count
		at := waitsAt(g, module)
		if g.State == "running" || at.Func == "" {
			continue
		}
		w := all[at.Func]
		if w == nil {
			w = &waiters{at: at}
			all[at.Func] = w
		}
		w.count, w.each = w.count+g.Count, max(w.each, g.Count)
		switch owner := heapdiff.OwnerOf(at.Func, module); {
		case owner == heapdiff.Own && isOwn(frameOf(g.CreatedAt), module):
			w.own = 2
		case owner == heapdiff.Own || owner == heapdiff.Dependency:
			w.own = max(w.own, 1)
		}
		if w.count > p.waiting {
			p.at, p.waiting = at, w.count
		}
	}
	if p.together = p.waiting; p.waiting >= int(fewestPiled.v()) {
		p.joinAsMany(all)
	}
}

// joinAsMany counts the places in of which there are about as many as of the one with most, where a thing has two
// goroutines at most, as a connection does.
func (p *pile) joinAsMany(all map[string]*waiters) {
	most := all[p.at.Func]
	things := max(float64(most.each), float64(most.count)/2)
	named := most
	for _, name := range slices.Sorted(maps.Keys(all)) {
		w := all[name]
		if w == most || float64(w.count) < asMany.v()*things {
			continue
		}
		if p.together += w.count; w.own > named.own {
			named = w
		}
	}
	if named != most {
		p.at, p.waiting = named.at, named.count
	}
}

// passThrough notes the functions of a stack that are the program's own or a dependency's.
func (p *pile) passThrough(stack []sample.Location, module string) {
	for _, l := range stack {
		for _, f := range l.Frames {
			if owner := heapdiff.OwnerOf(f.Func, module); owner == heapdiff.Own || owner == heapdiff.Dependency {
				p.functions[f.Func] = true
			}
		}
	}
}

// passes reports whether the function is on the stack.
func passes(stack []sample.Frame, function string) bool {
	return slices.ContainsFunc(stack, func(f sample.Frame) bool { return f.Func == function })
}
