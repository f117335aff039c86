package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

var goroutinesPage = Page{
	Truth: "Goroutines pile up, wait at one place and do not end. Their stacks, and the memory that they retain, fill the limit.",
	Looks: []string{
		"Their number over time: it must rise to the end and never fall.",
		"Where they wait, for how long the oldest of them has been blocked, and the go statement that started them.",
		"The goroutines' stacks, and what was allocated in their functions and is retained.",
	},
	Blind: []string{
		"Goroutines that ran at the moment: their stacks are not read.",
		"Whether those that wait for a peer would have been served later: a minute must pass before that is called a leak.",
		"What they wait for.",
		"What the goroutines retain, if the heap was not captured (--heap). The answer then takes what their functions allocated.",
	},
	Example: "thousands of goroutines that never end",
}

// judgeGoroutines speaks where goroutines pile up. Their number rises to the end and does not come back; they wait at
// one place, and the first of them have waited since the rise began. Requests in flight come back, or their oldest is
// young; a pool is constant.
func judgeGoroutines(c *Case) Finding {
	p, reason := c.risenGoroutines()
	if c.threadsOfC() {
		return threadsOfCFound(c, []Fact{c.factGoroutines(p)})
	}
	if reason != "" && !c.stacksFill() {
		return silent(reason, c.factGoroutines(p))
	}
	if c.proc == nil || c.proc.Goroutines == nil {
		return undecided(0, "where the goroutines wait: their number rose to the end, but their stacks were not read", c.factGoroutines(p))
	}
	c.measurePile(&p)
	facts := []Fact{c.factGoroutines(p)}
	bytes := float64(p.stacks + p.held)
	if c.stacksFill() && p.waiting >= int(fewestPiled.v()) {
		return stacksFound(c, p, facts)
	}
	if f, not := c.noPile(p, bytes, facts); not {
		return f
	}
	return goroutineLeakFound(c, p, facts)
}

// measurePile finds where most goroutines wait, and what they and their stacks take.
func (c *Case) measurePile(p *pile) {
	c.waiters(p)
	p.left, p.followed = c.whoLeft(p)
	if p.partly() {
		p.stacks = max(p.stacks, c.own.Row(sample.RowStacks))
	}
	if !p.retained {
		p.held = max(p.held, c.grewWith())
	}
}

// noPile is what is said of goroutines whose number rose, and that yet are no pile or cannot be
// told from one; bytes is what they and what they hold take.
func (c *Case) noPile(p pile, bytes float64, facts []Fact) (f Finding, not bool) {
	switch {
	case p.partly() && (p.read < int(fewestPiled.v()) || p.waiting*2 < p.read):
		return undecided(float64(c.own.Row(sample.RowStacks)), fmt.Sprintf("where most goroutines wait: of %.0f, only %d stacks were read before the memory was gone",
			p.last, p.read), facts...), true
	case float64(p.together) < 0.5*p.last && !p.partly():
		return silent(fmt.Sprintf("no single place has half of the %.0f goroutines", p.last), facts...), true
	case c.pressed && bytes < 0.15*float64(c.bound):
		return silent(fmt.Sprintf("the goroutines and their memory were only %s", fsize(bytes)), facts...), true
	case p.finish() && c.stacksAreMuch():
		return stacksFound(c, p, facts), true
	case p.finish():
		return silent(fmt.Sprintf("the goroutines at %s do finish: %s", p.where(), p.leftWords(c)), facts...), true
	case c.endSoon(p):
		return silent(fmt.Sprintf("the goroutines at %s do finish: none had waited for more than %s", p.where(), seconds(p.oldest.Seconds())),
			facts...), true
	}
	if why := c.tooShortToTell(p); why != "" {
		return undecided(bytes, "whether the "+why, facts...), true
	}
	return Finding{}, false
}

// tooShortToTell says of goroutines why nobody knows yet whether they finish, "" where that is known.
func (c *Case) tooShortToTell(p pile) string {
	switch {
	case p.span < shortestPile.v():
		return fmt.Sprintf("goroutines finish: they were started within %s, which is too short to tell", seconds(p.span))
	case p.reason == "IO wait" && p.span < shortestIO.v() && !c.keptByWaiters():
		return fmt.Sprintf("%d goroutines that wait for input or output finish: %s is too short to tell", p.waiting, seconds(p.span))
	}
	return ""
}

// stacksFill reports whether stacks are so much of the memory, or threads so many, that they are to
// be named whether their number still rises or not.
func (c *Case) stacksFill() bool {
	return (c.pressed || c.limit > 0 && !c.neverShort()) && c.stacksAreMuch() || c.threads() >= threadStacks.v()
}

func (c *Case) stacksAreMuch() bool {
	return c.stacksShare() >= stacksShare.v() && float64(c.own.Row(sample.RowStacks)) >= leastGrown.v()
}

// stacksFound names the goroutines whose stacks fill the memory, and who started them.
func stacksFound(c *Case, p pile, facts []Fact) Finding {
	p.stacks = max(p.stacks, c.own.Row(sample.RowStacks)*sample.Bytes(p.waiting)/sample.Bytes(max(1, p.read)))
	f := Finding{Stance: Speaks, Bytes: max(p.stacks+p.held, c.own.Row(sample.RowStacks)), Facts: facts, Confidence: Medium,
		Culprit: &Culprit{Place: p.named().Place(), Bytes: p.stacks + p.held, Role: "retains", inC: p.inC, starts: p.made.Func}}
	started := ""
	if p.made.Func != "" && p.made != p.named() {
		started = fmt.Sprintf(", started at %s", place(p.made.File, p.made.Line))
	}
	f.Sentence = fmt.Sprintf("%s goroutines%s wait at %s (%s)%s. %s", thousands(float64(p.waiting)), c.of(), p.where(), p.reasonWords(),
		started, c.stackWords(p.stacks))
	f.Detail = "Too many goroutines."
	if heapdiff.OwnerOf(p.at.Func, c.module()) != heapdiff.Own || p.pulled() {
		if words := c.blameStarter(&f, p); words != "" {
			f.Why = []Why{{Text: words, Evidence: []string{"goroutines"}}}
		}
	}
	if p.finish() {
		f.Why = append(f.Why, Why{Text: p.leftWords(c) + ": they do finish, and more begin than finish", Evidence: []string{"goroutines"}})
	}
	f.Because = []string{fmt.Sprintf("goroutine stacks are %.0f%% of the memory", 100*c.stacksShare())}
	if n := c.threads(); n >= threadStacks.v() {
		native := c.own.Row(sample.RowNative)
		f.Sentence = fmt.Sprintf("%s OS threads%s serve %s goroutines that wait at %s (%s)%s. Goroutine stacks use %s, thread stacks up to %s.",
			thousands(n), c.of(), thousands(float64(p.waiting)), p.where(), p.reasonWords(), started, size(p.stacks),
			size(native+c.ledger.Row(sample.RowKernel)))
		f.Detail, f.Bytes = "Too many OS threads.", f.Bytes+native+c.ledger.Row(sample.RowKernel)
		f.Because = []string{fmt.Sprintf("the process had %s OS threads", thousands(n))}
		if c.proc != nil {
			f.Facts = append(f.Facts, c.factThreads())
		}
		if locked := c.lockedThreads(); locked > 0 {
			f.Why = append(f.Why, Why{Text: fmt.Sprintf("%s locked to a thread (runtime.LockOSThread): such a thread serves nobody else",
				count(locked, "goroutine")+" "+was(locked)), Evidence: []string{"threads"}})
		}
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
			return p.oldest > 0 && p.oldest.Seconds() < 0.5*(end-at) && !c.outlive(p, p.oldest.Seconds())
		}
	}
	return false
}

// outlive reports whether the goroutines must live longer than a time, in seconds: their number had risen
// for twice as long as that, and evenly, while the rate of allocation, which follows the work that comes in,
// did not rise. By Little's law goroutines that end after that time would have stayed as many. A short wait
// is then that of a loop which wakes up, as by a ticker.
func (c *Case) outlive(p pile, life float64) bool {
	end := c.outcome.MomentElapsed
	half := end - p.span/2
	at, n := c.untilMoment(c.Ticks.Goroutines)
	if p.span < 2*life || len(at) == 0 {
		return false
	}
	early := n[nearestTo(at, half)] - p.first
	before, after := c.Ticks.grown(c.Ticks.Alloc, end-p.span, half), c.Ticks.grown(c.Ticks.Alloc, half, end)
	return early >= lateGrowth.v()*(p.last-p.first) && after <= before/(1-lateGrowth.v())
}

func goroutineLeakFound(c *Case, p pile, facts []Fact) Finding {
	f := Finding{Stance: Speaks, Bytes: p.stacks + p.held, Facts: facts, Confidence: Medium,
		Culprit: &Culprit{Place: p.named().Place(), Bytes: p.stacks + p.held, Role: "retains"}}
	f.Sentence = fmt.Sprintf("%s goroutines%s are blocked at %s (%s). The number of goroutines rose from %s to %s in %s and %s. The goroutines' stacks use %s",
		thousands(float64(p.waiting)), c.of(), p.where(), p.reasonWords(), thousands(p.first), thousands(p.last), seconds(p.span),
		p.fellWords(), size(p.stacks))
	if p.partly() {
		f.Sentence = fmt.Sprintf("The number of goroutines%s rose from %s to %s in %s and %s. Of the %d whose stacks were read, %d are blocked at %s (%s). All stacks use %s",
			c.of(), thousands(p.first), thousands(p.last), seconds(p.span), p.fellWords(), p.read, p.waiting, p.where(), p.reasonWords(),
			size(p.stacks))
	}
	if p.retained {
		f.Sentence += fmt.Sprintf(", and the goroutines retain %s of heap", size(p.held))
	} else if p.held > 0 {
		f.Sentence += fmt.Sprintf(", and the goroutines keep %s of heap alive", size(p.held))
	}
	f.Sentence += "."
	f.Detail = "A goroutine leak."
	f.Because = []string{p.oldestWords()}
	if p.noneLeft() {
		f.Because = append(f.Because, "none of the oldest goroutines finished")
	}
	switch {
	case p.span >= longestFirstRise.v():
		f.Confidence = High
	case p.reason == "IO wait" && p.span < shortestIO.v():
		f.Confidence = Low
		fallthrough
	default:
		f.Because = append(f.Because, doubtShortWatch)
	}
	words := ""
	if heapdiff.OwnerOf(p.at.Func, c.module()) != heapdiff.Own || p.pulled() {
		words = c.blameStarter(&f, p)
		c.blameMaker(&f)
	}
	f.Culprit.starts, f.Culprit.inC = p.made.Func, p.inC
	if c.stoodBefore(&p) {
		since := c.seconds(c.Moment.At) - c.seconds(c.StoodAt)
		f.Because = append(f.Because, fmt.Sprintf("the goroutines' stacks were read %s before the %s", seconds(since), c.momentName()))
	}
	if p.made.Func != "" {
		text := fmt.Sprintf("the goroutines are started at %s in %s", place(p.made.File, p.made.Line), ShortFunc(p.made.Func))
		if words != "" && f.Culprit.Below == nil {
			text += "; " + words
		}
		if p.noneLeft() {
			text += fmt.Sprintf("; the %d oldest of them already waited there %s after start", p.left.of, seconds(p.left.at))
		}
		f.Why = []Why{{Text: text, Evidence: []string{"goroutines"}}}
	}
	return f
}

// fellWords say when their number fell.
func (p *pile) fellWords() string {
	if p.released {
		return "fell only when the program ended"
	}
	return "never fell"
}

// oldestWords say for how long the first of them has waited.
func (p *pile) oldestWords() string {
	if p.oldest == 0 { // a GC notes it, and never of a coroutine (runtime/mgcmark.go, coro.go)
		return "for how long the goroutines have been blocked is not known"
	}
	if p.oldest.Seconds() >= 0.95*p.span {
		return fmt.Sprintf("the oldest goroutine has been blocked since the start (%s)", seconds(p.span))
	}
	return fmt.Sprintf("the oldest goroutine has been blocked for %s of %s", seconds(p.oldest.Seconds()), seconds(p.span))
}

func (c *Case) factGoroutines(p pile) Fact {
	f := Fact{ID: "goroutines", Values: map[string]int64{"first": int64(p.first), "last": int64(p.last), "waiting": int64(p.waiting),
		"oldest_wait_ms": p.oldest.Milliseconds(), "stack_bytes": int64(p.stacks), "held_bytes": int64(p.held)}}
	if c.Imported != "" && p.last == 0 { // a program has one at least
		return Fact{ID: f.ID, Text: "goroutines were not counted", Values: map[string]int64{}}
	}
	f.Text = fmt.Sprintf("goroutines: at least %.0f, %.0f at the end", p.first, p.last)
	if p.waiting > 0 {
		f.Text += fmt.Sprintf("; %d wait at %s", p.waiting, p.where())
	}
	if p.oldest > 0 {
		f.Text += fmt.Sprintf(", the longest for %s", seconds(p.oldest.Seconds()))
	}
	return f
}
