package explain

import (
	"fmt"
	"math/bits"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// deepStack is a goroutine whose own stack is a part of the memory worth speaking of. A stack doubles as calls go deeper,
// and the one that it was copied from is free heap from then on (runtime/stack.go, newstack). ok is false
// where no goroutine has such a stack.
func (c *Case) deepStack() (largest sample.GoroutineGroup, each sample.Bytes, ok bool) {
	for _, g := range c.goroutines() {
		if n := largestOf(g); n > each {
			largest, each = g, n
		}
	}
	return largest, each, float64(each) >= max(deepStack.v(), leastRise.v()*c.hardPeak())
}

// largestOf is what the largest stack of a group of goroutines has at least: not less than their mean, and a stack's size is a
// power of two (runtime/stack.go, stackalloc).
func largestOf(g sample.GoroutineGroup) sample.Bytes {
	n := sample.Bytes(max(1, g.Count))
	mean := (g.StackBytes + n - 1) / n
	if mean == 0 {
		return 0
	}
	return sample.Bytes(1) << bits.Len64(uint64(mean)-1)
}

// deepDetail is what such a burst is, in a few words.
const deepDetail = "Deep recursion, not a leak."

// recursion is the goroutines that are deep in calls of one function.
type recursion struct {
	at    sample.Frame // where the function calls itself
	times int          // how often it is on one of their stacks, at least
	count int
	each  sample.Bytes // the largest stack of them
	sum   sample.Bytes
}

// recursions is the function whose calls of itself have most of the stacks, of goroutines with a stack of a MiB or more.
func (c *Case) recursions() (most recursion) {
	all := map[string]recursion{}
	for _, g := range c.goroutines() {
		at, times := recurring(g.Where, c.module())
		each := largestOf(g)
		if times < int(fewestReadings.v()) || float64(each) < deepStack.v()/16 {
			continue
		}
		r := all[at.Func]
		r.count += g.Count
		r.sum += max(each, g.StackBytes)
		if r.each = max(r.each, each); times > r.times {
			r.at, r.times = at, times
		}
		if all[at.Func] = r; r.sum > most.sum {
			most = r
		}
	}
	return most
}

// deepStackFound is a burst of calls that went deep: it names the function that called itself. ok is
// false where none did at the moment, or memory was not short and the stacks were less than half of it.
func (c *Case) deepStackFound() (f Finding, ok bool) {
	r := c.recursions()
	least := max(deepStack.v(), leastRise.v()*c.hardPeak())
	if !c.pressed {
		least = max(leastSpike.v(), heldByRoot.v()*c.hardPeak())
	}
	if float64(r.sum) < least {
		return f, false
	}
	stacks := c.own.Row(sample.RowStacks)
	f = Finding{Stance: Speaks, Bytes: stacks + min(r.each, c.own.Row(sample.RowIdle)), Confidence: Medium, Facts: []Fact{c.factLedger()},
		Culprit: &Culprit{Place: r.at.Place(), Bytes: min(r.sum, max(stacks, r.each)), Role: "retains"}}
	f.Detail = deepDetail
	whose := fmt.Sprintf("The stack of one goroutine%s had grown to %s", c.of(), size(r.each))
	if r.count > 1 {
		whose = fmt.Sprintf("The stacks of %s%s had grown to %s together", count(r.count, "goroutine"), c.of(), size(f.Culprit.Bytes))
	}
	f.Sentence = fmt.Sprintf("%s, deep in calls of %s at %s.", whose, ShortFunc(r.at.Func), place(r.at.File, r.at.Line))
	f.Because = []string{doubtDeep}
	f.Why = []Why{{Text: fmt.Sprintf("the function is on such a stack at least %d times", r.times), Evidence: []string{"ledger"}},
		{Text: "a stack doubles as calls go deeper, and the memory of the smaller one becomes free heap", Evidence: []string{"ledger"}}}
	return f, true
}

// recurring is the frame of the program's or of a dependency's function that is on a stack most often, and how often: at the line
// where it is most often, which is the one that calls itself.
func recurring(stack []sample.Location, module string) (at sample.Frame, times int) {
	functions, lines, most := map[string]int{}, map[sample.Frame]int{}, map[string]sample.Frame{}
	for _, l := range stack {
		for _, f := range l.Frames {
			if owner := heapdiff.OwnerOf(f.Func, module); owner != heapdiff.Own && owner != heapdiff.Dependency {
				continue
			}
			line := lineOf(f)
			if lines[line]++; lines[line] > lines[most[f.Func]] {
				most[f.Func] = line
			}
			if functions[f.Func]++; functions[f.Func] > times {
				at, times = line, functions[f.Func]
			}
		}
	}
	if line, ok := most[at.Func]; ok {
		at = line
	}
	return at, times
}
