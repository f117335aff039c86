package explain

import (
	"fmt"
	"path"
	"slices"

	"github.com/highwater-go/highwater/internal/heapdiff"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
	"github.com/highwater-go/highwater/internal/visible"
)

// fixesFor proposes changes to try, the one most likely to do first, each with
// the command that tests it. A prediction is arithmetic on the ledger, no more.
func fixesFor(c *Case, verdict *Finding) []Fix {
	var out []Fix
	add := func(f *Fix) {
		if f != nil {
			f.ID = string(rune('A' + len(out)))
			out = append(out, *f)
		}
	}
	switch verdict.Class {
	case Leak, Burst, Goroutines:
		add(codeFix(c, verdict))
		add(memoryLimitFix(c, verdict.Class))
	case GCUnaware:
		add(memoryLimitFix(c, verdict.Class))
		add(limitFix(c, min(c.g.HeapGoal, unlimited)+c.nonHeap()))
	case Baseline:
		add(limitFix(c, c.live.bytes*2+c.nonHeap()))
		if verdict.Culprit != nil {
			add(codeFix(c, verdict))
		} else {
			add(&Fix{Text: "fewer of them at once", Kind: "code", State: "untested", Command: c.again(c.limit, sameBuild)})
		}
	case Churn:
		add(codeFix(c, verdict))
	case Spiral:
		add(spiralFix(c))
	case IdleHeap:
		first, second := memoryLimitFix(c, verdict.Class), giveBackFix(c)
		if c.othersGrew() {
			first, second = second, first
		}
		add(first)
		add(second)
	case Thrash:
		add(limitFix(c, sample.Bytes(c.hardPeak())+c.bound/8))
		add(memoryLimitFix(c, verdict.Class))
	case Native:
		if c.isGo(c.Subject) {
			add(codeFix(c, verdict))
		}
	case Shmem:
		add(&Fix{Text: "write to a disk, or bound the files in tmpfs", Kind: "code", State: "untested", Command: c.again(c.limit, newBuild)})
	}
	return out
}

func codeFix(c *Case, verdict *Finding) *Fix {
	f := &Fix{Kind: "code", State: "untested", Command: c.again(c.limit, newBuild)}
	where := ""
	if k := verdict.Culprit; k != nil && k.File != "" && !k.Hint {
		where = fmt.Sprintf("%s:%d: ", path.Base(k.File), k.Line)
	}
	switch verdict.Class {
	case Leak:
		if h := c.keeper(c.site); h != nil && h.Kind != "goroutine" {
			where = h.Path + ": "
		}
		f.Text = where + "let go of what is kept, or bound it"
	case Goroutines:
		f.Text = where + "let each of them end: a context, a timeout, an answer on every path"
	case Burst:
		f.Text = where + "fewer at once, or less memory for each"
	case Churn:
		f.Text = where + "allocate less: reuse, or do it once"
	case Native:
		f.Text = "free what C or mmap allocates"
		if k := verdict.Culprit; k != nil {
			f.Text += fmt.Sprintf("; look first at %s:%d", path.Base(k.File), k.Line)
		}
	default:
		f.Text = where + "keep less"
	}
	if k := c.causeFor(verdict); k != nil && f.Kind == "code" && verdict.Class != Native {
		f.Text = where + k.Fix
	}
	return f
}

// giveBackFix is to give freed memory back at once, where the line that allocated most
// is done with it.
func giveBackFix(c *Case) *Fix {
	f := &Fix{Text: "debug.FreeOSMemory() when such work is over", Kind: "code", State: "untested", Command: c.again(c.limit, newBuild)}
	if len(c.Allocators) > 0 && c.Allocators[0].Share >= 0.4 && c.Allocators[0].Own {
		f.Text = place(c.Allocators[0].File, c.Allocators[0].Line) + ": " + f.Text
	}
	return f
}

// othersGrew: another process that takes a tenth of the limit was not seen to keep its
// size: it may need more than it had.
func (c *Case) othersGrew() bool {
	return slices.ContainsFunc(c.Moment.Processes, func(p sample.ProcessMoment) bool {
		s, ok := c.Spans[p.Key]
		return p.Key != c.Subject && anonOf(p)*10 >= c.bound && (!ok || s.Seconds < shortestSteady || s.grew())
	})
}

// causeFor is the well-known cause of a verdict that blames a line, nil if there is
// none. One of highwater's own that is known by the verdict's class alone says no
// more than the rule does.
func (c *Case) causeFor(f *Finding) *Cause {
	var k *Cause
	switch blamed := f.Culprit; {
	case blamed == nil || blamed.Hint || blamed.File == "":
	case f.Class == Leak || f.Class == Burst || f.Class == Baseline:
		k = c.cause(f.Class)
	case f.Class == Goroutines && c.site != nil && c.site.Function == blamed.Function:
		k = c.cause(f.Class)
	case f.Class == Goroutines:
		own := heapdiff.OwnerOf(blamed.Function, c.module()) == heapdiff.Own
		k = c.causeOf(f.Class, []sample.Frame{{Func: blamed.Function}}, blamed.Function, own)
	case f.Class == Churn:
		i := slices.IndexFunc(c.Allocators, func(a Allocator) bool { return a.Function == blamed.Function && a.Line == blamed.Line })
		if i >= 0 {
			k = c.causeOf(f.Class, c.Allocators[i].Stack, blamed.Function, c.Allocators[i].Own)
		}
	}
	if k != nil && len(k.Functions) == 0 && !slices.ContainsFunc(c.more, func(own Cause) bool { return own.Name == k.Name }) {
		return nil
	}
	return k
}

// memoryLimitFix is GOMEMLIMIT for this limit, with what it would do: nil where
// there is no limit to set it for, or it is in force already, or one is and a lower one
// would not help.
func memoryLimitFix(c *Case, class Class) *Fix {
	want := c.limitForGo()
	if c.limit == 0 || c.g == nil || want < 8*sample.MiB {
		return nil
	}
	need := c.live.bytes + c.goFixed()
	vain := need > want || class == Leak || class == Goroutines
	if have, ok := c.memoryLimit(); ok && (have <= want || vain) {
		return nil
	}
	setting := "GOMEMLIMIT=" + units.Env(want)
	f := &Fix{Text: setting, Kind: "config", State: "predicted", Command: setting + " " + c.again(c.limit, sameBuild)}
	if vain {
		f.Command = "" // nothing to try
	}
	switch {
	case need > want && class == Thrash:
		f.Outlook = fmt.Sprintf("no help (live %s + rest %s > %s)", whole(c.live.bytes), whole(c.nonHeap()), limit(c.limit))
	case need > want:
		f.Outlook = fmt.Sprintf("still killed (live %s + rest %s > %s)", whole(c.live.bytes), whole(c.nonHeap()), limit(c.limit))
	case class == Leak && c.stillFilling():
		f.Outlook = "no help against a leak, only later"
	case vain:
		f.Outlook = "still killed, only later: a leak fills any limit"
	case class == IdleHeap && c.othersGrew():
		f.Outlook = "may still be killed: the other processes were growing"
	case class == IdleHeap && c.curve.max > float64(want):
		f.Outlook = fmt.Sprintf("lives, but collects hard at times (live %s before)", fsize(c.curve.max))
	case class == Burst && need > want*60/100:
		f.Outlook = fmt.Sprintf("may still be killed (live %s and rising)", whole(c.live.bytes))
	case need > want*85/100:
		f.Outlook = fmt.Sprintf("lives, but collects hard (live %s)", whole(c.live.bytes))
	default:
		f.Outlook = fmt.Sprintf("lives (live %s + rest %s < %s)", whole(c.live.bytes), whole(c.nonHeap()), limit(c.limit))
	}
	return f
}

// spiralFix is a GOMEMLIMIT a quarter above the live heap, with a limit that holds
// it where the one in force does not.
func spiralFix(c *Case) *Fix {
	const step = 16 * sample.MiB
	want, under := c.limitForGo(), c.limit
	need := (c.live.bytes*5/4 + c.goFixed() + step - 1) / step * step
	if want < need {
		want = need
		if under > 0 {
			under = (need + need/10 + c.outside() + step - 1) / step * step
		}
	}
	f := &Fix{Text: "GOMEMLIMIT=" + units.Env(want), Kind: "config", State: "predicted", Outlook: fmt.Sprintf("room to collect (live %s)", whole(c.live.bytes))}
	f.Command = f.Text + " " + c.again(under, sameBuild)
	if under > c.limit {
		f.Kind, f.Text = "limit", f.Text+" and a limit of "+limit(under)
	}
	return f
}

// limitFix is a limit that holds need, with a tenth to spare, in steps of 16 MiB.
func limitFix(c *Case, need sample.Bytes) *Fix {
	if c.limit == 0 || need >= unlimited {
		return nil
	}
	const step = 16 * sample.MiB
	want := (need + need/10 + step - 1) / step * step
	if want <= c.limit {
		return nil
	}
	return &Fix{Text: "a limit of " + limit(want), Kind: "limit", State: "predicted", Outlook: fmt.Sprintf("lives (needs about %s)", whole(need)),
		Command: c.again(want, sameBuild)}
}

// whole is a size in whole MiB, for arithmetic that is read in passing.
func whole(b sample.Bytes) string { return fmt.Sprintf("%d MiB", (b+sample.MiB/2)/sample.MiB) }

// build is which build of the program a command runs.
type build string

const (
	sameBuild build = ""
	newBuild  build = "-new" // the changed one, beside the other
)

// again is the command that repeats the run under a limit (0: none), with the
// load it had.
func (c *Case) again(limit sample.Bytes, b build, flags ...string) string {
	words := append([]string{"highwater", "run"}, flags...)
	if limit > 0 {
		words = append(words, "--limit", units.Env(limit))
	}
	if c.Ready != "" {
		words = append(words, "--ready", c.Ready)
	}
	if c.Load != "" {
		words = append(words, "--load", c.Load)
	}
	return Shell(append(append(words, "--"), c.command(b)...)...)
}

// command is the program as it was run. A changed build stands in for the
// program that was started, where that is the subject.
func (c *Case) command(b build) []string {
	name := "PROGRAM"
	p := c.program(c.Subject)
	if p != nil && p.Name != "" {
		name = p.Name
	}
	if len(c.Command) == 0 {
		return []string{"./" + name + string(b)}
	}
	out := slices.Clone(c.Command)
	if path.Base(out[0]) == name {
		out[0] += string(b)
	}
	return out
}

// Shell is words as a shell reads them.
func Shell(words ...string) string { return visible.Shell(words...) }
