package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// inconclusive is the verdict where no rule decides: it says what is certain,
// what is missing and which command would get it.
func inconclusive(c *Case, findings []Finding) (Verdict, []Fact) {
	v := Verdict{Class: Inconclusive, Confidence: Low, Detail: "Unknown."}
	facts := []Fact{c.factOutcome(), c.factLedger()}
	var candidates []string
	for _, f := range findings {
		if f.Stance == Open {
			candidates = append(candidates, noun(f.Class))
			v.NotKnown = append(v.NotKnown, f.Reason)
			facts = append(facts, f.Facts...)
		}
	}
	if slices.ContainsFunc(v.NotKnown, func(k string) bool { return strings.HasPrefix(k, openGrowth) }) {
		v.NotKnown = slices.DeleteFunc(v.NotKnown, func(k string) bool { return strings.HasSuffix(k, tooShort) }) // the same, once more
	}
	v.NotKnown = append(v.NotKnown, c.unseenGrowth()...)
	v.NotKnown = append(v.NotKnown, c.missing(v.NotKnown)...)
	if c.wantsRoom() {
		v.NotKnown = append(v.NotKnown, "whether the live heap would have fallen again under a higher limit")
	}
	if len(v.NotKnown) == 0 {
		v.NotKnown = []string{"which part of the memory is abnormal"}
	}
	v.Sentence = c.undecidedSentence(candidates)
	v.Reasons = v.NotKnown
	v.Known = c.known()
	if i := slices.IndexFunc(v.Known, func(k string) bool { return strings.HasPrefix(k, largestPart) }); i >= 0 &&
		strings.Contains(v.Sentence, "The largest part") {
		v.Known = slices.Delete(v.Known, i, i+1) // the sentence has it
	}
	v.Next = c.nextCommands()
	return v, facts
}

// What two rules leave open about one growth.
const (
	openGrowth = "whether the live heap would have kept growing"
	tooShort   = ", and the run was too short to see whether that continues"
)

// noun is a class within a sentence.
func noun(class Class) string {
	r, _ := RuleOf(class)
	return r.Noun
}

func (c *Case) undecidedSentence(candidates []string) string {
	if c.firstRise() {
		return c.firstRiseSentence()
	}
	if len(candidates) >= 2 || len(candidates) == 1 && candidates[0] != noun(Healthy) {
		return c.candidatesSentence(candidates) + c.mostFrom()
	}
	if c.collectsSeldom() {
		return fmt.Sprintf("GOGC=%d lets the heap%s grow to %s the live heap, so the next GC was due only at %s. How much of the %s heap was live is not known.", c.g.GOGC, c.of(),
			timesTheLive(c.g.GOGC), size(c.g.HeapGoal), size(c.heap()))
	}
	if text := c.headroomWords(); text != "" {
		return text
	}
	if most, ok := c.largestRow(); ok {
		s := fmt.Sprintf("The largest part of the memory was %s: %s%s%s.", rowWords(most.Name), size(most.Bytes), c.ofStacks(most.Name), c.shares())
		if heap := most.Name == sample.RowLive || most.Name == sample.RowNew; heap && c.site != nil && c.site.Bytes*2 > most.Bytes && c.site.Function != "" {
			s += fmt.Sprintf(" Most of that was allocated at %s.", place(c.site.File, c.site.Line))
		}
		return s
	}
	if n := len(c.curve.points); n > 0 {
		return fmt.Sprintf("Only the live heap was read: %s after the last GC.", fsize(c.curve.points[n-1].live))
	}
	return "No memory figures of the program were read."
}

// candidatesSentence names what the cause may be.
func (c *Case) candidatesSentence(candidates []string) string {
	switch {
	case c.collectorOff() && slices.Contains(candidates, noun(GCUnaware)):
		return fmt.Sprintf("GC is off: GOGC=off and GOMEMLIMIT is not set, so the heap%s only grows. How much of the %s heap was live is not known.", c.of(),
			size(c.heap()))
	case len(candidates) > 1:
		return "This could be " + list(candidates, "or") + c.in() + "."
	case candidates[0] == noun(Baseline):
		return fmt.Sprintf("All processes together may need more than the limit%s. The evidence does not prove this.", c.shares())
	}
	return "This could be " + candidates[0] + c.in() + ", but the evidence does not prove that."
}

// firstRise reports whether the program was killed while its live heap rose for the first time,
// and soon after its start.
func (c *Case) firstRise() bool {
	return c.outcome.Kernel && c.limit > 0 && c.g != nil && !c.Watched && len(c.curve.points) > 0 && len(c.curve.returns) == 0 &&
		c.outcome.MomentElapsed < longestFirstRise.v() && c.live.bytes > c.bound/4
}

// firstRiseSentence is how far the live heap of a program came that was killed in its first rise.
func (c *Case) firstRiseSentence() string {
	first, last := c.curve.points[0].live, float64(c.live.bytes)
	rose := fmt.Sprintf("rose from %s to %s", fsize(first), fsize(last))
	if first > 0.9*last {
		rose = "reached " + fsize(last) // before the first reading
	}
	return fmt.Sprintf("%s needed more than the limit of %s while its memory rose for the first time. The live heap%s %s in %s.",
		c.name(), limit(c.bound), c.of(), rose, seconds(c.outcome.MomentElapsed)) + c.mostFrom()
}

// mostFrom names the line with most of the heap, "" where none is known.
func (c *Case) mostFrom() string {
	if c.site == nil || c.site.File == "" || strings.HasPrefix(c.site.Function, "runtime.") {
		return ""
	}
	held := c.site.Bytes
	if c.SiteView == "published" {
		held += c.site.Since
	}
	if held*2 < c.heap() {
		return fmt.Sprintf(" The line with the most heap, about %s, is %s.", size(held), place(c.site.File, c.site.Line))
	}
	return fmt.Sprintf(" Most of the heap came from %s.", place(c.site.File, c.site.Line))
}

// collectorOff reports whether nothing made the collector run but memory that was asked for by name.
func (c *Case) collectorOff() bool {
	_, limited := c.memoryLimit()
	return c.g != nil && c.g.GOGC < 0 && !limited
}

// collectsSeldom reports whether most of the memory came since the last collection, and a GOGC above Go's own lets it.
func (c *Case) collectsSeldom() bool {
	most, ok := c.largestRow()
	return ok && most.Name == sample.RowNew && c.g != nil && c.g.GOGC > 100 && c.g.HeapGoal < unlimited
}

// shares says how the memory was spread where there were several processes.
func (c *Case) shares() string {
	list := processesOf(c)
	if len(list) < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d processes, the largest is %s, pid %d, with %s)", len(list), list[0].Name, list[0].PID, size(list[0].Bytes))
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
		return "the live heap"
	case sample.RowNew:
		return "heap that was allocated since the last GC"
	case sample.RowUndivided:
		return "memory of a Go program, which could not be divided"
	}
	return RowWord(name)
}

// ofStacks says whose the stacks are, where that is the row: ", of 9,000 goroutines that wait at main.go:15".
func (c *Case) ofStacks(row string) string {
	if whose := c.whoseStacks(); whose != "" && row == sample.RowStacks {
		return ", of " + whose
	}
	return ""
}

const largestPart = "the largest part of the memory"

// limitHit says whose limit was hit, nothing where none was.
func (c *Case) limitHit() []string {
	switch o := c.outcome; {
	case o.LimitOf != "" && (o.By == ByCgroup || o.By == ByParent):
		return []string{fmt.Sprintf("the limit that was hit is the limit of the %s", o.LimitOf)}
	case o.By == ByCgroup:
		return []string{"the limit that was hit is the program's own cgroup limit"}
	case o.By == ByParent:
		return []string{"the limit that was hit belongs to a parent cgroup"}
	case o.By == ByNode:
		return []string{"the machine ran out of memory"}
	}
	return nil
}

// known lists what is certain whatever the cause.
func (c *Case) known() []string {
	out := c.limitHit()
	if r, ok := c.largestRow(); ok {
		out = append(out, fmt.Sprintf(largestPart+" at the %s was %s: %s", c.momentName(), rowWords(r.Name), size(r.Bytes))+c.ofStacks(r.Name))
	}
	if len(c.curve.points) >= int(enoughReadings.v()) && c.Imported != "" {
		out = append(out, c.factCurve().Text)
	}
	if c.g != nil && c.live.exact {
		text := fmt.Sprintf("%s of the Go heap%s was reachable", size(c.live.bytes), c.of())
		if u := c.untouched(); u*20 > c.live.bytes {
			text += fmt.Sprintf(", with %s that was not yet written, which the kernel does not count", size(u))
		}
		out = append(out, text)
	}
	if h := c.retainerOf(nil); h != nil {
		out = append(out, h.holds())
	}
	out = append(out, c.heldBy()...)
	if c.g != nil && c.g.Goroutines > 1000 && c.whoseStacks() == "" {
		out = append(out, fmt.Sprintf("%s goroutines had %s of stacks", thousands(float64(c.g.Goroutines)), size(c.ledger.Row(sample.RowStacks))))
	}
	return out
}

// heldBy names the lines that hold the heap, whatever the cause, and how fast it
// grew.
func (c *Case) heldBy() (out []string) {
	var lines []string
	for i, s := range c.Sites {
		if i < 2 && s.Bytes > 4*sample.MiB && s.Bytes*5 >= c.Sites[0].Bytes && s.Function != "" && !strings.HasPrefix(s.Function, "runtime.") {
			lines = append(lines, fmt.Sprintf("%s at %s", size(s.Bytes), place(s.File, s.Line)))
		}
	}
	if len(lines) > 0 {
		view := "of the live heap was allocated"
		if c.SiteView == "published" {
			view = "of the heap, as of the last GC, was allocated"
		}
		out = append(out, strings.Replace(strings.Join(lines, " and "), " at ", " "+view+" at ", 1))
	}
	if elapsed := c.outcome.MomentElapsed; c.g != nil && c.outcome.Kernel && elapsed > 0 && elapsed < 2 {
		out = append(out, fmt.Sprintf("the program allocated %s in its %s", size(c.g.TotalAlloc), seconds(elapsed)))
	}
	return out
}

// unseenGrowth says how much came after the moment, where the kill itself was
// not caught.
func (c *Case) unseenGrowth() []string {
	if c.unrecordedBytes() < sample.MiB {
		return nil
	}
	after := c.outcome.Elapsed - c.outcome.MomentElapsed
	return []string{fmt.Sprintf("what used another %s in the last %s, after the last full reading", size(c.unrecordedBytes()), seconds(after))}
}

// noProfile is why lines are not known.
const noProfile = "because there is no heap profile"

// missing lists what was not read at the moment and would have helped, without what is said
// already.
func (c *Case) missing(said []string) []string {
	var out []string
	switch {
	case c.proc == nil:
		out = append(out, "what the program's memory held")
	case c.g == nil && c.Imported != "": // its gaps tell
	case c.g == nil:
		out = append(out, "what the Go heap held, because the runtime's memory was not read"+c.remedy())
	case len(c.Sites) == 0 && slices.ContainsFunc(said, func(s string) bool { return strings.HasSuffix(s, noProfile) }):
	case len(c.Sites) == 0:
		out = append(out, "which lines allocated the heap, "+noProfile)
	case c.proc.Live == nil && !c.live.known:
		out = append(out, "how much of the heap was live at the end")
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

// wantsRoom reports whether the live heap rose until the kill; a higher limit would show whether it comes back.
func (c *Case) wantsRoom() bool {
	return c.limit > 0 && c.outcome.Kernel && len(c.curve.points) > 0 && len(c.curve.returns) == 0
}

// nextCommands repeat the run in a way that would get what is missing.
func (c *Case) nextCommands() []string {
	limit := c.limit
	if c.wantsRoom() && len(c.Sites) > 0 {
		limit *= 2
	}
	if flags := c.watchFlags(); flags != "" { // it is still there
		return []string{fmt.Sprintf("highwater watch %d --for %ds%s", c.Subject.PID, int(max(longestRest, twice*c.outcome.Elapsed)), flags)}
	}
	if bounded := c.boundedBy(); c.collectorOff() && bounded != "" {
		return []string{bounded}
	}
	return []string{c.again(limit, c.nextFlags()...)}
}

// watchFlags are those of a watch of a program that still runs that would get what is missing, "" where nothing that a watch gets is.
func (c *Case) watchFlags() (flags string) {
	if c.outcome.State != Running || c.g == nil {
		return ""
	}
	if p := c.program(c.Subject); p != nil && p.HeapProfile == sample.HeapProfileOff && len(c.Sites) == 0 {
		flags = " --enable-heap-profile"
	}
	if c.trend().Needs != "" {
		flags += " --heap=" + c.oftenEnough()
	}
	return flags
}

// nextFlags are those of a run that would get what is missing.
func (c *Case) nextFlags() []string {
	p := c.program(c.Subject)
	switch {
	case p != nil && p.Go != nil && p.HeapProfile == sample.HeapProfileOff && len(c.Moment.Processes) > 1:
		return []string{"--follow-forks"}
	case c.g == nil:
		return nil
	case len(c.Sites) == 0 && c.Heap == nil && c.Imported == "": // who holds it needs no heap profile
		reason := sample.HeapPeak
		if c.Moment.Kind == sample.MomentDeath { // else its death was not caught
			reason = sample.HeapKill
		}
		return []string{"--heap", string(reason)}
	case c.outcome.State == Exited && c.outcome.Elapsed >= longestRest/2 && (c.trend().Needs != "" || c.rise.grownMuch()):
		return []string{"--heap=" + c.oftenEnough()}
	}
	return nil
}

func seconds(s float64) string { return units.Duration(durationOf(s)) }
