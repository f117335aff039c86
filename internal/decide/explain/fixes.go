package explain

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// proposals are changes to try, those that do not help, and why nothing is predicted.
type proposals struct {
	*Case
	predictor *pacer.Predictor // nil: the collector was not seen
	fixes     []Fix
	wontHelp  []NoHelp
	why       string
}

func (p *proposals) add(f Fix) {
	f.ID = string(rune('A' + len(p.fixes)))
	p.fixes = append(p.fixes, f)
}

func (p *proposals) vain(text, reason string) {
	p.wontHelp = append(p.wontHelp, NoHelp{text, reason})
}

func (p *proposals) notPredicted(why string) {
	if p.why == "" {
		p.why = why
	}
}

// undecidedCause is why nothing is predicted where no rule decides.
const undecidedCause = "the cause is not known"

// into writes them into an answer.
func (p *proposals) into(a *Answer) {
	a.Fixes, a.WontHelp, a.NotPredicted = append(a.Fixes, p.fixes...), append(a.WontHelp, p.wontHelp...), p.why
}

// fixesFor proposes changes to try, the one most likely to do first, each with the
// command that tests it. What a setting or a limit would do the model of the collector
// says, as it does for highwater tune.
func fixesFor(c *Case, verdict *Finding) *proposals {
	p := &proposals{Case: c, predictor: c.predictor()}
	code := func(text string) {
		p.add(Fix{Text: text, Kind: "code", State: "untested", Limit: c.limit, Command: c.again(c.limit)})
	}
	switch verdict.Class {
	case Leak, Backlog, Burst, Goroutines:
		code(c.codeFix(verdict))
		if c.threadsOfC() {
			p.notPredicted("threads of C do not depend on the Go heap")
			break
		}
		p.memoryLimit(verdict.Class)
	case GCUnaware:
		p.knowLimit(code)
	case Baseline:
		p.wholeNeed(verdict)
		if verdict.Culprit != nil {
			code(c.codeFix(verdict))
		} else {
			code("run fewer of these processes under one limit")
		}
	case Churn:
		code(c.codeFix(verdict))
	case Spiral:
		p.room()
	case IdleHeap:
		p.idleHeap(code)
	case Thrash:
		p.asItIs(sample.Bytes(c.hardPeak()) + c.bound/8)
		p.memoryLimit(verdict.Class)
	case Fragmented:
		p.fragmented(code)
	case Native:
		if other, ok := c.otherFills(); ok {
			code(fmt.Sprintf("let %s use less memory, or run it under a limit of its own", other.Name))
		} else if c.isGo(c.Subject) {
			code(c.codeFix(verdict))
		}
	case Processes:
		code("end each of these processes when its work is done, and wait for it, or limit how many run at once")
	case Shmem:
		code(c.fileFix(verdict.Culprit))
	case PageCache:
		p.pageCache(code)
	}
	p.told()
	return p
}

// knowLimit proposes a GOMEMLIMIT that fits the limit, and the limit that the program needs as it is. The limit that a
// GOMEMLIMIT above the limit would ask for, as of a whole machine, is not one that anybody sets.
func (p *proposals) knowLimit(code func(string)) {
	p.memoryLimit(GCUnaware)
	have, ok := p.Case.memoryLimit()
	switch {
	case !ok || p.limit == 0 || have < p.limit:
		p.asItIs(0)
	case len(p.fixes) == 0:
		code("set GOMEMLIMIT=" + units.Env(p.limit.Sub(p.outside())*9/10) +
			", or call debug.SetMemoryLimit with that, which is nine tenths of what the limit leaves to Go. This has not been tested")
	}
}

// wholeNeed proposes the limit that a program needs, unless its rise was cut short: then how much that is was not seen.
func (p *proposals) wholeNeed(verdict *Finding) {
	if !slices.Contains(verdict.Because, doubtCutShort) {
		p.asItIs(0)
	}
}

// idleHeap proposes to give free heap back, first where it grew in other processes.
func (p *proposals) idleHeap(code func(string)) {
	first := p.othersGrew()
	if first {
		code(p.giveBack())
	}
	p.memoryLimit(IdleHeap)
	if !first {
		code(p.giveBack())
	}
}

// pageCache proposes what the cause of the largest files is known to need.
func (p *proposals) pageCache(code func(string)) {
	if k := p.causeOfFiles(p.holdersOfFiles(sample.RowPageCache), p.ledger.Row(sample.RowPageCache)); k != nil {
		code(k.Fix)
	}
}

// codeFix is what to change in the line that a verdict blames.
func (c *Case) codeFix(verdict *Finding) string {
	where := ""
	if k := verdict.Culprit; k != nil && k.File != "" && !k.Hint {
		where = fmt.Sprintf("%s:%d: ", path.Base(k.File), k.Line)
	}
	where, what, whole := c.fixOfClass(verdict, where)
	k := c.causeFor(verdict)
	switch {
	case whole || k == nil:
		return where + what
	case verdict.Class == Leak && k.Parts && math.IsNaN(c.outOfReach()) && c.retainerOf(c.site).isCollection():
		return where + what + "; if only parts of what is read are needed, " + k.Fix
	}
	return where + k.Fix
}

// fixOfClass is what brings down the memory of a class, and where: at the line or at what retains its memory. whole: no cause that is known
// of the line says it better.
func (c *Case) fixOfClass(verdict *Finding, line string) (where, what string, whole bool) {
	switch verdict.Class {
	case Leak:
		return c.leakFix(line)
	case Backlog:
		h := c.retainerOf(c.site)
		if h.isPlace() || h != nil && h.Room > 0 && !h.several() {
			line = h.place() + ": "
		}
		return line, h.boundQueue(), false
	case Goroutines:
		what, whole = c.goroutinesFix(verdict.Culprit)
		return line, what, whole
	case Burst:
		return line, lessInFlight(verdict), false
	case Churn:
		return line, "allocate less: reuse buffers, or do the work once", false
	case Native:
		return line, c.freeNative(verdict.Culprit), false
	}
	return line, "retain fewer entries, or store them more compactly", false
}

func (c *Case) leakFix(line string) (where, what string, whole bool) {
	h := c.retainerOf(c.site)
	switch {
	case h.isDeferred():
		return "", causeNamed("defer-in-loop").Fix, true
	case h.ofLibrary(c.module()):
		return line, "give " + h.place() + " fewer different values, or remove them again where its package allows that", true
	case h.isPlace():
		line = h.place() + ": "
	case h.isCalls():
		line = ""
	}
	return line, h.release(), false
}

func (c *Case) goroutinesFix(k *Culprit) (what string, whole bool) {
	if c.threadsOfC() {
		most, _ := c.ownThreads()
		return "make fewer threads, or let them end: they run " + startWords(most), true
	}
	if k != nil && k.inC {
		return "make the calls of C return: give each a timeout of its own, as no context ends it", true
	}
	return "make every goroutine exit: pass a context, add a timeout, or answer on every path", false
}

// lessInFlight is what brings down what calls hold.
func lessInFlight(verdict *Finding) string {
	switch verdict.Detail {
	case deepDetail:
		return "bound how deep these calls may go, or use a loop and a stack of your own"
	case callDetail:
		return "let this call use less memory at once, for example by working in smaller parts"
	case largeDetail:
		return "check how large this value may become before it is allocated, or keep one and use it again"
	case peakDetail, swingDetail:
		return "use less memory at once, for example by working in smaller parts"
	}
	return "limit how many of these calls run at once, or use less memory for each"
}

// isPlace reports whether what retains memory is one place in the program that can be named.
func (h *HeldBy) isPlace() bool {
	ofGoroutine := h != nil && h.Kind == "goroutine" && !strings.HasPrefix(h.Title, "(*") // a field has a name wherever it is reached from
	return h != nil && !ofGoroutine && h.Root != "special" && h.Root != "timer" && !h.several()
}

// isCollection reports whether the holder is one that has entries to delete.
func (h *HeldBy) isCollection() bool { return h != nil && h.Entries > 1 && !h.isCalls() }

// isCalls reports whether the frames of many goroutines retain the memory.
func (h *HeldBy) isCalls() bool {
	return h != nil && strings.HasPrefix(h.String(), "the stacks ") && float64(h.goroutines) >= manyCalls.v()
}

// release is what to do with what a place retains.
func (h *HeldBy) release() string {
	switch {
	case h != nil && h.Root == "special":
		return "close these objects explicitly, and let no finalizer refer to its own object"
	case h.isCalls():
		return "let the calls that retain this memory end: give what they wait for a deadline, or limit how many run at once"
	case h != nil && strings.Contains(h.Title, "context.cancelCtx"): // a parent keeps a child until it is cancelled (context/context.go)
		return "call the cancel function of each context when its work is done"
	case h != nil && isFull(h.Entries, h.Room):
		return "drop values that have grown large instead of keeping them for later use"
	case h != nil && h.Root == "timer":
		return "stop each timer that is no longer needed, or reset one timer instead of creating many"
	case h != nil && h.Entries == 0 && (h.Kind == "" || h.Kind == "goroutine"):
		return "drop references to objects that are no longer needed, or cap the number of objects"
	}
	return "delete entries that are no longer needed, or cap their number"
}

// giveBack is to give freed memory back at once, where the line that allocated most
// is done with it.
func (c *Case) giveBack() string {
	text := "call debug.FreeOSMemory() when such work is over"
	if len(c.Allocators) > 0 && c.Allocators[0].Share >= 0.4 && c.Allocators[0].Own {
		return place(c.Allocators[0].File, c.Allocators[0].Line) + ": " + text
	}
	return text
}

// othersGrew reports whether another process that takes a tenth of the limit was not seen to keep its size: it may need
// more than it had.
func (c *Case) othersGrew() bool {
	return slices.ContainsFunc(c.Moment.Processes, func(p sample.ProcessMoment) bool {
		s, ok := c.Spans[p.Key]
		return p.Key != c.Subject && anonOf(p)*10 >= c.bound && (!ok || s.Seconds < shortestSteady.v() || s.grew())
	})
}

// causeFor is the well-known cause of a verdict that blames a line, nil if there is
// none. One of highwater's own that is known by the verdict's class alone says no
// more than the rule does.
func (c *Case) causeFor(f *Finding) *Cause {
	blamed := f.Culprit
	if blamed == nil || blamed.Hint || blamed.File == "" || f.Class == Baseline && slices.Contains(f.Because, doubtCutShort) {
		return nil
	}
	if c.isElsewhere(f) {
		return nil
	}
	k := c.causeAt(f.Class, blamed)
	if k != nil && len(k.Functions) == 0 && !slices.ContainsFunc(c.more, func(own Cause) bool { return own.Name == k.Name }) {
		return nil
	}
	return k
}

// isElsewhere reports whether a finding is of stacks, or of a value that has gone: what is known of the line that holds most of the heap, and of what
// retains that, says nothing of it.
func (c *Case) isElsewhere(f *Finding) bool {
	return f.Detail == deepDetail || f.Detail == largeDetail && f.Culprit != nil && (c.site == nil || c.site.Function != f.Culprit.Function)
}

// causeAt is the well-known cause of a class at the line that is blamed for it, nil if there is none.
func (c *Case) causeAt(class Class, blamed *Culprit) *Cause {
	switch class {
	case Leak, Burst, Baseline:
		return c.cause(class)
	case Goroutines:
		if k := c.causeOf(class, []sample.Frame{{Func: blamed.starts}}, blamed.starts, false); k != nil && len(k.Functions) > 0 {
			return k
		}
		if c.site != nil && c.site.Function == blamed.Function {
			return c.cause(class)
		}
		own := heapdiff.OwnerOf(blamed.Function, c.module()) == heapdiff.Own
		return c.causeOf(class, []sample.Frame{{Func: blamed.Function}}, blamed.Function, own)
	case Native:
		return c.causeOfTouched(blamed)
	case Churn:
		for _, a := range c.Allocators {
			if a.Function == blamed.Function && a.Line == blamed.Line {
				return c.causeOf(class, a.Stack, blamed.Function, a.Own)
			}
		}
	}
	return nil
}

// whole is a size in whole MiB, for arithmetic that is read in passing.
func whole(b sample.Bytes) string { return fmt.Sprintf("%d MiB", (b+sample.MiB/2)/sample.MiB) }

// again is the command that repeats the run under a limit (0: none), with the load it
// had. Words that are a setting, NAME=VALUE, are set for the program and not for
// highwater; the others are flags.
func (c *Case) again(limit sample.Bytes, with ...string) string {
	words, settings := []string{"highwater", "run"}, []string{"env"}
	for _, w := range with {
		switch {
		case w == "":
		case strings.HasPrefix(w, "-") || !strings.Contains(w, "="):
			words = append(words, w)
		default:
			settings = append(settings, w)
		}
	}
	if limit > 0 {
		words = append(words, "--limit", units.Env(limit))
	}
	if c.Ready != "" {
		words = append(words, "--ready", c.Ready)
	}
	if c.Load != "" {
		words = append(words, "--load", c.Load)
	}
	words = append(words, "--")
	if len(settings) > 1 {
		words = append(words, settings...)
	}
	return Shell(append(words, c.command()...)...)
}

// command is the program as it was run.
func (c *Case) command() []string {
	if len(c.Command) > 0 {
		return c.Command
	}
	if p := c.program(c.Subject); p != nil && p.Name != "" {
		return []string{"./" + p.Name}
	}
	return []string{"./PROGRAM"}
}

// Shell is words as a shell reads them.
func Shell(words ...string) string { return visible.Shell(words...) }
