package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
)

// inconclusive is the verdict where no rule decides: it says what is certain,
// what is missing and which command would get it.
func inconclusive(c *Case, findings []Finding) (Verdict, []Fact) {
	v := Verdict{Class: Inconclusive, Confidence: Low, Detail: "Not enough evidence."}
	facts := []Fact{c.factOutcome(), c.factLedger()}
	var candidates []string
	for _, f := range findings {
		if f.Stance == Open {
			candidates = append(candidates, noun(f.Class))
			v.NotKnown = append(v.NotKnown, f.Reason)
			facts = append(facts, f.Facts...)
		}
	}
	v.NotKnown = append(v.NotKnown, c.unseenGrowth()...)
	v.NotKnown = append(v.NotKnown, c.missing()...)
	if c.wantsRoom() {
		v.NotKnown = append(v.NotKnown, "whether the heap would have come back, given more room")
	}
	if len(v.NotKnown) == 0 {
		v.NotKnown = []string{"which part of the memory was out of the ordinary"}
	}
	v.Sentence = c.undecidedSentence(candidates)
	v.Reasons = v.NotKnown
	v.Known = c.known()
	v.Next = c.nextCommands()
	return v, facts
}

// noun is a class within a sentence.
func noun(class Class) string {
	r, _ := RuleOf(class)
	return r.Noun
}

func (c *Case) undecidedSentence(candidates []string) string {
	if c.firstRise() {
		s := fmt.Sprintf("%s needed more than the limit of %s while it was still loading or at its first work: the live heap%s rose from %s to %s in %s.",
			c.name(), limit(c.bound), c.of(), fsize(c.curve.points[0].live), fsize(float64(c.live.bytes)), seconds(c.outcome.MomentElapsed))
		return s + c.mostFrom()
	}
	if len(candidates) >= 2 || len(candidates) == 1 && candidates[0] != noun(Healthy) {
		s := "The evidence does not decide whether this was " + list(candidates, "or") + c.in() + "."
		if len(candidates) == 1 {
			s = "The evidence points to " + candidates[0] + c.in() + ", but does not prove it."
		}
		if len(candidates) == 1 && candidates[0] == noun(Baseline) {
			s = "The evidence points to a steady need of all processes together" + c.shares() + ", but does not prove it."
		}
		if c.collectorOff() && slices.Contains(candidates, noun(GCUnaware)) {
			s = fmt.Sprintf("The collector is off: GOGC is off and GOMEMLIMIT is not set, so that the heap%s keeps what is allocated, needed or not. How much of its %s was needed was not seen.", c.of(), size(c.heap()))
		}
		return s + c.mostFrom()
	}
	if most, ok := c.largestRow(); ok {
		s := fmt.Sprintf("Not enough evidence to name a cause. The largest part of the memory was %s: %s%s.", rowWords(most.Name), size(most.Bytes), c.shares())
		if heap := most.Name == sample.RowLive || most.Name == sample.RowNew; heap && c.site != nil && c.site.Bytes*2 > most.Bytes && c.site.Function != "" {
			s += fmt.Sprintf(" Most of it was allocated at %s.", place(c.site.File, c.site.Line))
		}
		return s
	}
	return "Not enough evidence to name a cause: no memory figures of the program were read."
}

// firstRise reports whether the program was killed while its live heap rose for the first time,
// and soon after its start.
func (c *Case) firstRise() bool {
	return c.outcome.Kernel && c.limit > 0 && c.g != nil && !c.Watched && len(c.curve.points) > 0 && len(c.curve.returns) == 0 &&
		c.outcome.MomentElapsed < longestFirstRise.v() && c.live.bytes > c.bound/4
}

// mostFrom names the line with most of the heap, "" where none is known.
func (c *Case) mostFrom() string {
	if c.site == nil || c.site.File == "" {
		return ""
	}
	held := c.site.Bytes
	if c.SiteView != "live" {
		held += c.site.Since
	}
	if held*2 < c.heap() {
		return fmt.Sprintf(" The line with most of the heap, about %s, is %s.", size(held), place(c.site.File, c.site.Line))
	}
	return fmt.Sprintf(" Most of the heap came from %s.", place(c.site.File, c.site.Line))
}

// collectorOff: nothing made the collector run but memory that was asked for by name.
func (c *Case) collectorOff() bool {
	_, limited := c.memoryLimit()
	return c.g != nil && c.g.GOGC < 0 && !limited
}

// shares says how the memory was spread where there were several processes.
func (c *Case) shares() string {
	list := processesOf(c)
	if len(list) < 2 {
		return ""
	}
	return fmt.Sprintf(", in %d processes (the largest was %s, pid %d, with %s)", len(list), list[0].Name, list[0].PID, size(list[0].Bytes))
}

func (c *Case) largestRow() (sample.LedgerRow, bool) {
	if len(c.ledger.Rows) == 0 {
		return sample.LedgerRow{}, false
	}
	return c.ledger.Rows[0], true
}

// rowWords is a row's name within a sentence.
func rowWords(name string) string {
	switch name {
	case sample.RowLive:
		return "the live Go heap"
	case sample.RowNew:
		return "Go heap that was new since the last collection"
	case sample.RowUndivided:
		return "a Go program's memory, which could not be divided"
	}
	return name
}

// known lists what is certain whatever the cause.
func (c *Case) known() []string {
	var out []string
	switch c.outcome.By {
	case ByCgroup:
		out = append(out, "the limit was the program's own, not a parent's and not the machine's")
	case ByParent:
		out = append(out, "its own limit was not the one that struck: a parent's was")
	case ByNode:
		out = append(out, "the machine itself was out of memory")
	}
	if r, ok := c.largestRow(); ok {
		out = append(out, fmt.Sprintf("the largest part at the %s was %s: %s", c.momentName(), rowWords(r.Name), size(r.Bytes)))
	}
	if len(c.curve.points) >= int(enoughReadings.v()) && c.Imported != "" {
		out = append(out, c.factCurve().Text)
	}
	if c.g != nil && c.live.exact {
		out = append(out, fmt.Sprintf("a mark found %s of Go heap%s live", size(c.live.bytes), c.of()))
	}
	if h := c.keeper(nil); h != nil {
		out = append(out, h.holds())
	}
	out = append(out, c.heldBy()...)
	if c.g != nil && c.g.Goroutines > 1000 {
		out = append(out, fmt.Sprintf("there were %d goroutines, their stacks %s", c.g.Goroutines, size(c.ledger.Row(sample.RowStacks))))
	}
	return out
}

// heldBy names the lines that hold the heap, whatever the cause, and how fast it
// grew.
func (c *Case) heldBy() (out []string) {
	var lines []string
	for i, s := range c.Sites {
		if i < 2 && s.Bytes > 4*sample.MiB && s.Bytes*5 >= c.Sites[0].Bytes && s.Function != "" {
			lines = append(lines, fmt.Sprintf("%s of it at %s", size(s.Bytes), place(s.File, s.Line)))
		}
	}
	if len(lines) > 0 {
		view := "of the live heap was allocated"
		if c.SiteView != "live" {
			view = "of what the last published profile calls in use was allocated"
		}
		out = append(out, strings.Replace(strings.Join(lines, ", "), "of it at", view+" at", 1))
	}
	if elapsed := c.outcome.MomentElapsed; c.g != nil && c.outcome.Kernel && elapsed > 0 && elapsed < 2 {
		out = append(out, fmt.Sprintf("it allocated %s in the %s that it lived", size(c.g.TotalAlloc), seconds(elapsed)))
	}
	return out
}

// unseenGrowth says how much came after the moment, where the kill itself was
// not caught.
func (c *Case) unseenGrowth() []string {
	if c.unseen() < sample.MiB {
		return nil
	}
	after := c.outcome.Elapsed - c.outcome.MomentElapsed
	return []string{fmt.Sprintf("%s came in the %s after the last moment that was kept", size(c.unseen()), seconds(after))}
}

// missing lists what was not read at the moment and would have helped.
func (c *Case) missing() []string {
	var out []string
	switch {
	case c.proc == nil:
		out = append(out, "anything of the program at the moment")
	case c.g == nil && c.Imported != "": // its gaps tell
	case c.g == nil:
		out = append(out, "what the Go runtime held: its memory was not read"+c.remedy())
	case len(c.Sites) == 0:
		out = append(out, "which lines held the heap: there is no heap profile")
	case c.proc.Live == nil && !c.live.known:
		out = append(out, "how much of the heap was live at the moment: no mark was made")
	}
	return out
}

// remedy is what would let the runtime be read, "" if that is not known.
func (c *Case) remedy() string {
	p := c.program(c.Subject)
	switch {
	case p == nil || p.Go == nil || p.WhyNot == "":
		return ""
	case p.Go.Stripped:
		return "; build it with its symbol table (without -ldflags=-s) and run it again"
	}
	return "; " + p.WhyNot
}

// wantsRoom: the live heap rose until the kill; a higher limit would show
// whether it comes back.
func (c *Case) wantsRoom() bool {
	return c.limit > 0 && c.outcome.Kernel && len(c.curve.points) > 0 && len(c.curve.returns) == 0
}

// nextCommands repeat the run in a way that would get what is missing.
func (c *Case) nextCommands() []string {
	limit := c.limit
	if c.wantsRoom() && len(c.Sites) > 0 {
		limit *= 2
	}
	var flags []string
	if p := c.program(c.Subject); p != nil && p.Go != nil && p.HeapProfile == sample.HeapProfileOff && len(c.Moment.Processes) > 1 {
		flags = []string{"--follow-forks"}
	}
	if c.g != nil && len(flags) == 0 && len(c.Sites) == 0 && c.Heap == nil && c.Imported == "" {
		reason := sample.HeapPeak
		if c.Moment.Kind == sample.MomentDeath { // else its death was not caught
			reason = sample.HeapKill
		}
		flags = append(flags, "--heap", string(reason)) // who holds it needs no heap profile
	}
	if bounded := c.boundedBy(); c.collectorOff() && bounded != "" {
		return []string{bounded}
	}
	return []string{c.again(limit, flags...)}
}

func seconds(s float64) string { return units.Duration(durationOf(s)) }
