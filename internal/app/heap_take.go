package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/measure/heapgraph"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// heapCopy is a heap that is copied while its program is stopped, and analyzed
// afterwards.
type heapCopy struct {
	*heapTarget
	reason  sample.HeapReason
	key     sample.ProcessKey
	at      time.Time
	stopped time.Duration
	gc      uint32
	threads []goheap.Thread
	limit   sample.Bytes     // of what its analysis takes
	plan    *goheap.HeapPlan // nil: not made beforehand
	copied  *goheap.HeapCopy
	profile sample.HeapProfile
	noSites error // why it has no profile
	strings bool  // are to be compared
	sample  bool  // a random part is enough
	gaps    []sample.Gap

	variables variables
}

// variables are a program's, which stay as they are while it runs.
type variables struct {
	read    bool
	all     []gobin.Variable
	noTypes error // why they have no types
}

// standing notes where the threads of the process stand.
func (c *heapCopy) standing(z *lastbreath.Freeze) {
	for _, t := range z.Threads {
		c.threads = append(c.threads, goheap.Thread(t))
	}
}

// ready takes the memory for the copy and reads what need not be read again, so that
// the program stands still for less.
func (c *heapCopy) ready(limit sample.Bytes) (err error) {
	named := make(chan bool)
	go func() {
		c.readVariables()
		close(named)
	}()
	if c.plan, err = c.planned(limit); err == nil {
		c.noSites = c.stats.Profile(&c.profile) // the stacks of all sites
		c.plan.Wait()
	}
	<-named
	return err
}

// planned plans a copy of all objects, or of a random part of them.
func (c *heapCopy) planned(limit sample.Bytes) (*goheap.HeapPlan, error) {
	if c.sample {
		return c.heap.PlanThinnedCopy(limit, goheap.DefaultThinned)
	}
	return c.heap.PlanHeapCopy(limit)
}

// readVariables reads names and types of the program's variables, unless they are known.
func (c *heapCopy) readVariables() {
	v := &c.variables
	if v.read {
		return
	}
	v.read = true
	ranges, err := c.heap.VariableRanges()
	if err == nil {
		v.all, err = c.bin.Variables(ranges)
	}
	v.noTypes = err
}

// take copies what the analysis needs.
func (c *heapCopy) take(ctx context.Context, limit sample.Bytes) (err error) {
	c.at = time.Now()
	if c.plan == nil {
		if c.plan, err = c.planned(limit); err != nil {
			return err
		}
		c.noSites = c.stats.Profile(&c.profile)
	}
	if c.copied, err = c.plan.Copy(ctx); err != nil {
		return err
	}
	c.plan = nil
	var figures sample.Runtime
	if c.stats.Counters(&figures) == nil {
		c.gc = figures.NumGC
	}
	return nil
}

// readProfile reads which allocations the heap profile has sampled.
func (c *heapCopy) readProfile() { c.noSites = c.stats.Profile(&c.profile) }

func (c *heapCopy) gap(what string, why error) {
	c.gaps = append(c.gaps, sample.Gap{What: what, Why: why.Error()})
}

// analyze finds who holds what. The copy is let go.
func (c *heapCopy) analyze(ctx context.Context) (*heapgraph.Analysis, error) {
	c.readVariables()
	for _, library := range c.others {
		c.gap("the heap of "+library, errors.New("the process has several Go runtimes, and this one's heap is not read"))
	}
	if c.variables.noTypes != nil {
		c.gap("types of variables", c.variables.noTypes)
	}
	if len(c.variables.all) == 0 {
		c.gap("names of variables", errors.New("the program has no symbol table: a variable is shown by its address in the executable"))
	}
	objects, err := c.copied.Graph(ctx, c.variables.all, c.threads)
	if err != nil {
		return nil, err
	}
	if c.strings {
		objects.WantStrings()
	}
	c.copied, c.variables = nil, variables{}
	return heapgraph.Analyze(ctx, objects)
}

// summarize is what a recording keeps of it; lists are as Summarize takes them.
func (c *heapCopy) summarize(ctx context.Context, a *heapgraph.Analysis, lists *heapgraph.Lists) (*sample.HeapCapture, error) {
	sites := heapgraph.Sites{Rate: c.profile.Rate, At: c.siteOf()}
	switch {
	case c.noSites != nil:
		sites.At = nil
		c.gap("where objects were allocated", c.noSites)
	case len(a.Objects.Samples) == 0:
		c.gap("where objects were allocated", errors.New("no object is in the heap profile: it is switched off, or all are too young"))
	}
	if f := a.Objects.Frames; f.Whole > 0 && c.reason != sample.HeapAsked { // heap prints it
		c.gap(fmt.Sprintf("which variables of %d of %d stack frames were still in use", f.Whole, f.Exact+f.Whole),
			errors.New("the functions were running, interrupted, or written in assembly; everything that such a frame points to counts as reachable"))
	}
	out, err := a.Summarize(ctx, sites, lists)
	if err != nil {
		return nil, fmt.Errorf("sum up the heap: %w", err)
	}
	out.At, out.Process, out.Reason, out.Stopped, out.GC, out.Gaps = c.at, c.key, c.reason, c.stopped, c.gc, c.gaps
	out.Took = time.Since(c.at)
	return out, nil
}

// siteOf looks up the line that a bucket stands for, each once.
func (c *heapCopy) siteOf() func(bucket uint64) (sample.Frame, sample.Bytes, bool) {
	known := make(map[uint64]sample.Frame)
	return func(bucket uint64) (sample.Frame, sample.Bytes, bool) {
		b, ok := c.stats.Bucket(bucket)
		if !ok {
			return sample.Frame{}, 0, false
		}
		at, ok := known[bucket]
		if !ok {
			at = lineThatAllocated(c.bin, b.Stack, c.bias)
			known[bucket] = at
		}
		return at, sample.Bytes(b.Size), true
	}
}

// lineThatAllocated is the line that a heap profile would name for the same stack.
func lineThatAllocated(bin *gobin.Binary, stack []uint64, bias uint64) sample.Frame {
	linked := make([]uint64, len(stack))
	for i, pc := range stack {
		linked[i] = pc - bias
	}
	locations, hidden := bin.Site(linked)
	if at := heapdiff.Blame(sample.Site{Stack: locations, Hidden: hidden}, bin.Module.Path).Frame; at.Func != "" {
		return at
	}
	return sample.Frame{Func: "?"}
}
