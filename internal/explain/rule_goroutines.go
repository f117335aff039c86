package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/heapdiff"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/series"
)

var goroutinesPage = Page{
	Truth: "Goroutines pile up, wait at one place and do not end; their stacks, and what they hold, fill the memory.",
	Looks: []string{
		"Their number over time: it must rise to the end and never come back.",
		"Where they wait, for how long the first of them have waited, and the go statement that made them.",
		"Their stacks, and what was allocated in their functions and is held.",
	},
	Blind: []string{
		"Goroutines that ran at the moment: their stacks are not read.",
		"Whether those that wait for a peer would have been served later: a minute must pass before that is called a leak.",
		"What they wait for.",
		"What they hold, where the heap was not captured (--heap): it is then what was allocated in their functions.",
	},
	Example: "thousands of goroutines that never end",
}

// pile is goroutines that became more and more, and most of which wait at one
// place.
type pile struct {
	first, last float64 // goroutines before the rise and at the moment
	span        float64 // seconds that the rise took

	at        sample.Frame // where they wait
	reason    string       // the runtime's wait reason
	made      sample.Frame // the go statement, the zero frame if unknown
	waiting   int
	read      int           // goroutines of which it is known where they stood
	oldest    time.Duration // the longest wait of one of them
	functions map[string]bool

	stacks, held sample.Bytes // their stacks; what was allocated in their functions and is held
	retained     bool         // held is what they retain, by a capture of the heap
}

// judgeGoroutines: goroutines pile up. Their number rises to the end and does not
// come back; they wait at one place, and the first of them have waited since the
// rise began. Requests in flight come back, or their oldest is young; a pool is
// constant.
func judgeGoroutines(c *Case) Finding {
	p, reason := c.risenGoroutines()
	if reason != "" && !c.stacksFill() {
		return silent(reason, c.factGoroutines(p))
	}
	if c.proc == nil || c.proc.Goroutines == nil {
		return undecided(0, "the number of goroutines rose to the end, but their stacks were not read", c.factGoroutines(p))
	}
	c.waiters(&p)
	facts := []Fact{c.factGoroutines(p)}
	if p.partly() {
		p.stacks = max(p.stacks, c.own.Row(sample.RowStacks))
	}
	if !p.retained {
		p.held = max(p.held, c.grewWith())
	}
	bytes := float64(p.stacks + p.held)
	if c.stacksFill() && p.waiting >= fewestPiled {
		return stacksFound(c, p, facts)
	}
	switch {
	case p.partly() && (p.read < fewestPiled || p.waiting*2 < p.read):
		return undecided(float64(c.own.Row(sample.RowStacks)), fmt.Sprintf("of %.0f goroutines the stacks of %d could be read: the program's memory went away meanwhile", p.last, p.read), facts...)
	case float64(p.waiting) < 0.5*p.last && !p.partly():
		return silent(fmt.Sprintf("no place had half of the %.0f goroutines waiting", p.last), facts...)
	case c.pressed && bytes < 0.15*float64(c.bound):
		return silent(fmt.Sprintf("the goroutines and what they held were %s", fsize(bytes)), facts...)
	case c.endSoon(p):
		return silent(fmt.Sprintf("of the goroutines that waited at %s none had waited for more than %s: they end", place(p.at.File, p.at.Line), seconds(p.oldest.Seconds())), facts...)
	case p.span < shortestPile:
		return undecided(bytes, fmt.Sprintf("the goroutines came within %s: too short a time to see whether they end", seconds(p.span)), facts...)
	case p.reason == "IO wait" && p.span < shortestIO:
		return undecided(bytes, fmt.Sprintf("%d goroutines waited for input or output: whether they would ever end was not seen in %s", p.waiting, seconds(p.span)), facts...)
	}
	return goroutineLeakFound(c, p, facts)
}

// stacksFill reports whether stacks are so much of the memory, or threads so many, that they are to
// be named whether their number still rises or not.
func (c *Case) stacksFill() bool {
	return c.pressed && c.stacksShare() >= stacksShare.v() && float64(c.own.Row(sample.RowStacks)) >= leastGrown.v() || c.threads() >= threadStacks.v()
}

// stacksFound names the goroutines whose stacks fill the memory, and who started them.
func stacksFound(c *Case, p pile, facts []Fact) Finding {
	p.stacks = max(p.stacks, c.own.Row(sample.RowStacks)*sample.Bytes(p.waiting)/sample.Bytes(max(1, p.read)))
	f := Finding{Stance: Speaks, Bytes: max(p.stacks+p.held, c.own.Row(sample.RowStacks)), Facts: facts, Confidence: Medium,
		Culprit: &Culprit{Function: p.at.Func, File: p.at.File, Line: p.at.Line, Bytes: p.stacks + p.held, Role: "retains"}}
	started := ""
	if p.made.Func != "" {
		started = fmt.Sprintf(", started at %s", place(p.made.File, p.made.Line))
	}
	f.Sentence = fmt.Sprintf("%d goroutines%s wait at %s (%s)%s. Their stacks take %s.", p.waiting, c.of(), place(p.at.File, p.at.Line), waitReason(p.reason), started, size(p.stacks))
	f.Detail = "Cause: too many goroutines."
	f.Because = []string{fmt.Sprintf("stacks are %.0f%% of the memory", 100*c.stacksShare())}
	if n := c.threads(); n >= threadStacks.v() {
		native := c.own.Row(sample.RowNative)
		f.Sentence = fmt.Sprintf("%.0f OS threads%s, for %d goroutines that wait at %s (%s)%s. Stacks of goroutines take %s, those of threads up to %s.",
			n, c.of(), p.waiting, place(p.at.File, p.at.Line), waitReason(p.reason), started, size(p.stacks), size(native+c.ledger.Row(sample.RowKernel)))
		f.Detail, f.Bytes = "Cause: too many threads.", f.Bytes+native+c.ledger.Row(sample.RowKernel)
		f.Because = []string{fmt.Sprintf("the process had %.0f threads", n)}
	}
	return f
}

// endSoon reports whether none of those that wait has waited for half of the time in which the
// runtime could have seen it: a collection notes when it first finds a goroutine waiting
// (runtime/mgcmark.go, waitsince), so that without one the time is not known.
func (c *Case) endSoon(p pile) bool {
	end := c.outcome.MomentElapsed
	for _, g := range c.Cycles {
		if at := c.seconds(g.At); at >= end-p.span && at < end {
			return p.oldest > 0 && p.oldest.Seconds() < 0.5*(end-at)
		}
	}
	return false
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

// partly: most goroutines could not be read. Two seconds after a kill the kernel
// takes the memory of who is still there, whoever looks at it (mm/oom_kill.c,
// OOM_REAPER_DELAY), and a starved machine may need longer for the stacks.
func (p *pile) partly() bool { return float64(p.read)*5 < p.last*4 }

// The shortest rises that tell a leak of goroutines from calls in flight, in
// seconds. Whoever waits for a peer may wait for long and still be served.
const (
	shortestPile = 1.5
	shortestIO   = 10.0
	fewestPiled  = 100
)

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
	low, high := series.Min(n), series.Max(n)
	p.first, p.last = n[low], n[len(n)-1]
	grown := p.last - p.first
	if waves := series.Waves(n, max(fewestPiled/2, 0.2*n[high])); len(waves) > 1 || len(waves) == 1 && waves[0].After != series.None {
		return p, fmt.Sprintf("the number of goroutines came back after %.0f", n[waves[0].Peak])
	}
	if grown < fewestPiled || grown < 0.5*p.last {
		return p, fmt.Sprintf("the number of goroutines did not grow: %.0f at first, %.0f at last", n[0], p.last)
	}
	if later, ok := c.fewestLater(); ok && later <= p.first+grown/2 {
		return p, fmt.Sprintf("the number of goroutines came back to %.0f after the %s", later, c.momentName())
	}
	from := low
	for from+1 < len(n) && n[from+1] <= p.first+0.05*grown {
		from++
	}
	p.span = at[len(at)-1] - at[from]
	third := n[nearestTo(at, at[from]+2*p.span/3)]
	if trend := series.Line(at[from:], n[from:]); trend.Low <= 0 || p.last-third < 0.1*grown {
		return p, fmt.Sprintf("the number of goroutines did not keep growing: %.0f for the last part of %s", p.last, seconds(p.span))
	}
	return p, ""
}

// fewestLater is the least number of goroutines after the moment, until the program
// was asked to end; ok is false where none was read.
func (c *Case) fewestLater() (least float64, ok bool) {
	from, to := c.seconds(c.Moment.At), math.Inf(1)
	if sent, stopped := firstEvent(c.Evidence, sample.EventSignal); stopped {
		to = c.seconds(sent.At)
	}
	for i, n := range c.Ticks.Goroutines {
		if at := c.Ticks.At[i]; at > from && at < to && n > 0 && (!ok || n < least) { // NaN compares false
			least, ok = n, true
		}
	}
	return least, ok
}

// untilMoment is what was seen of a column up to the moment.
func (c *Case) untilMoment(column []float64) (at, v []float64) {
	end := c.seconds(c.Moment.At)
	for i, x := range column {
		if c.Ticks.At[i] <= end && !math.IsNaN(x) {
			at, v = append(at, c.Ticks.At[i]), append(v, x)
		}
	}
	return at, v
}

// nearestTo is the index of the first instant not before when.
func nearestTo(at []float64, when float64) int {
	for i, t := range at {
		if t >= when {
			return i
		}
	}
	return len(at) - 1
}

// waiters finds the function in which most goroutines wait, the line where most of
// them do, and what they hold. A function that starts two goroutines for each
// thing, as net/http does for a connection, is one place.
func (c *Case) waiters(p *pile) {
	module := c.module()
	count := map[string]int{}
	for _, g := range c.proc.Goroutines {
		p.read += g.Count
		if at := waitsAt(g, module); g.State != "running" && at.Func != "" {
			if count[at.Func] += g.Count; count[at.Func] > p.waiting {
				p.at, p.waiting = at, count[at.Func]
			}
		}
	}
	p.functions = map[string]bool{p.at.Func: true}
	most := 0
	for _, g := range c.proc.Goroutines {
		if waitsAt(g, module).Func != p.at.Func || g.State == "running" {
			continue
		}
		p.stacks += g.StackBytes
		p.oldest = max(p.oldest, g.Oldest)
		if g.Count > most {
			most, p.reason, p.made, p.at = g.Count, g.Reason, frameOf(g.CreatedAt), waitsAt(g, module)
		}
		for _, l := range g.Where {
			for _, f := range l.Frames {
				if owner := heapdiff.OwnerOf(f.Func, module); owner == heapdiff.Own || owner == heapdiff.Dependency {
					p.functions[f.Func] = true
				}
			}
		}
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

// passes: the function is on the stack.
func passes(stack []sample.Frame, function string) bool {
	return slices.ContainsFunc(stack, func(f sample.Frame) bool { return f.Func == function })
}

// waitsAt is the line of the program's own code, or of a dependency's, that a
// goroutine waits at; else the go statement that made it.
func waitsAt(g sample.GoroutineGroup, module string) sample.Frame {
	b := heapdiff.Blame(sample.Site{Stack: g.Where}, module)
	if b.Owner == heapdiff.Own || b.Owner == heapdiff.Dependency {
		return lineOf(b.Frame)
	}
	if made := frameOf(g.CreatedAt); made.Func != "" && heapdiff.OwnerOf(made.Func, module) != heapdiff.Runtime {
		return made
	}
	return lineOf(b.Frame)
}

func frameOf(l sample.Location) sample.Frame {
	if len(l.Frames) == 0 {
		return sample.Frame{}
	}
	return lineOf(l.Frames[0])
}

func lineOf(f sample.Frame) sample.Frame {
	return sample.Frame{Func: f.Func, File: f.File, Line: f.Line}
}

func goroutineLeakFound(c *Case, p pile, facts []Fact) Finding {
	f := Finding{Stance: Speaks, Bytes: p.stacks + p.held, Facts: facts, Confidence: Medium,
		Culprit: &Culprit{Function: p.at.Func, File: p.at.File, Line: p.at.Line, Bytes: p.stacks + p.held, Role: "retains"}}
	f.Sentence = fmt.Sprintf("%d goroutines%s are blocked at %s (%s). The number of goroutines rose from %.0f to %.0f in %s and never fell; their stacks take %s",
		p.waiting, c.of(), place(p.at.File, p.at.Line), waitReason(p.reason), p.first, p.last, seconds(p.span), size(p.stacks))
	if p.partly() {
		f.Sentence = fmt.Sprintf("The number of goroutines%s rose from %.0f to %.0f in %s and never fell. Of the %d whose stacks could be read %d are blocked at %s (%s); all stacks take %s",
			c.of(), p.first, p.last, seconds(p.span), p.read, p.waiting, place(p.at.File, p.at.Line), waitReason(p.reason), size(p.stacks))
	}
	if p.retained {
		f.Sentence += fmt.Sprintf(", and they retain %s of the heap", size(p.held))
	} else if p.held > 0 {
		f.Sentence += fmt.Sprintf(", and they keep %s of heap alive", size(p.held))
	}
	f.Sentence += "."
	f.Detail = "Cause: a goroutine leak."
	f.Because = []string{fmt.Sprintf("the oldest has been blocked for %s of %s", seconds(min(p.oldest.Seconds(), p.span)), seconds(p.span)), "none of them was seen to finish"}
	if p.span >= longestFirstRise.v() {
		f.Confidence = High
	} else {
		f.Because = append(f.Because, fmt.Sprintf("it was watched for %s only", seconds(p.span)))
	}
	if p.made.Func != "" {
		f.Why = []Why{{Text: fmt.Sprintf("they are started at %s in %s; none of them finished during the watch", place(p.made.File, p.made.Line), ShortFunc(p.made.Func)), Evidence: []string{"goroutines"}}}
	}
	return f
}

func waitReason(reason string) string {
	if reason == "" {
		return "waiting"
	}
	return strings.TrimSpace(reason)
}

func (c *Case) factGoroutines(p pile) Fact {
	f := Fact{ID: "goroutines", Values: map[string]int64{"first": int64(p.first), "last": int64(p.last), "waiting": int64(p.waiting),
		"oldest_wait_ms": p.oldest.Milliseconds(), "stack_bytes": int64(p.stacks), "held_bytes": int64(p.held)}}
	if c.Imported != "" && p.last == 0 { // a program has one at least
		return Fact{ID: f.ID, Text: "goroutines were not counted", Values: map[string]int64{}}
	}
	f.Text = fmt.Sprintf("goroutines: %.0f at the least, %.0f at the moment", p.first, p.last)
	if p.waiting > 0 {
		f.Text += fmt.Sprintf("; %d wait at %s, the longest for %s", p.waiting, place(p.at.File, p.at.Line), seconds(p.oldest.Seconds()))
	}
	return f
}
