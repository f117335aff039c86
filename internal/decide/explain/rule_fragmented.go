package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var fragmentedPage = Page{
	Truth: "Most native memory is free: C code has freed it, and malloc keeps it. It is not a leak. Blocks in use between the free ones keep the pages, or each thread's arena keeps its own free memory.",
	Looks: []string{
		"Every block of glibc's malloc, read out of the program's memory: what is in use, by size, and what is free, by arena.",
		"Which pages of the free memory are resident, and which of them hold no block in use: those malloc_trim(3) returns.",
	},
	Blind: []string{
		"Other allocators: musl, jemalloc, tcmalloc and mimalloc are named, and not read.",
		"Who allocated the blocks, and what for.",
		"Blocks that a thread keeps for its next calls (tcache): at most some hundred KiB a thread, which count as in use.",
	},
	Example: "memory that malloc keeps",
}

// judgeFragmented speaks where what malloc keeps of freed memory is a large part of the charge.
func judgeFragmented(c *Case) Finding {
	if c.malloc == nil {
		return minor("C's malloc was not read")
	}
	kept, native := c.mallocKeeps(), c.own.Row(sample.RowNative)
	hard := c.ledger.Total.Sub(c.ledger.Row(sample.RowPageCache))
	facts := append([]Fact{c.factNative(), c.factLedger()}, c.mallocFacts()...)
	switch {
	case float64(kept) < keptSeen.v():
		return minor(fmt.Sprintf("malloc kept %s of freed memory", size(kept)), facts...)
	case c.turnsOver():
		return silent(fmt.Sprintf("malloc kept %s of freed memory for moments only: %s of native memory was written for the first time, for the %s that there is",
			size(kept), size(c.residentOf().SeenBytes), size(native)), facts...)
	case kept*2 <= c.nativeRead() || float64(kept) < keptShare.v()*float64(hard):
		return silent(fmt.Sprintf("malloc kept %s of freed memory, C code had %s in use", size(kept), size(c.malloc.InUse+c.malloc.Mapped)), facts...)
	case !c.pressed && float64(kept) < keptLeast.v():
		return silent("memory usage stayed well below the limit", facts...)
	}
	return fragmentedFound(c, kept, facts)
}

// nativeRead is native memory without what was not read of malloc's, as on a busy machine, where time runs out half-way: what C code
// has freed is compared with what was looked at. Where that is less than a third, all counts as in use.
func (c *Case) nativeRead() sample.Bytes {
	native := c.own.Row(sample.RowNative)
	if c.malloc == nil || c.malloc.Unread*3 > native*2 {
		return native
	}
	return native - c.malloc.Unread
}

func fragmentedFound(c *Case, kept sample.Bytes, facts []Fact) Finding {
	m := c.malloc
	f := Finding{Stance: Speaks, Bytes: kept, Facts: facts, Confidence: High, Because: []string{"every block of malloc was read"}}
	switch {
	case !c.keptBefore(kept):
		f.Confidence, f.Because = Medium, []string{doubtFreedNow}
	case (m.InUse+m.Mapped)*4 > kept:
		f.Confidence, f.Because = Medium, []string{doubtMuchInUse}
	}
	if isPartial(m) {
		f.Confidence, f.Because = Medium, []string{fmt.Sprintf("%s of malloc's memory were not read: %s", size(m.Unread), m.WhyUnread)}
	}
	f.Sentence = fmt.Sprintf("C's malloc keeps %s that C code has freed. C code has only %s in use, in %s.", size(kept), size(m.InUse+m.Mapped),
		count(int(m.Blocks+m.MappedBlocks), "block"))
	f.Detail = "Fragmentation of native memory, not a leak."
	why := func(text string) { f.Why = append(f.Why, Why{Text: text, Evidence: []string{"malloc"}}) }
	if n, ok := c.spread(); ok {
		why(fmt.Sprintf("the free memory is in %d arenas: threads that call malloc at the same time get arenas of their own, and each keeps what it freed", n))
	}
	top, whole, between := c.keptParts()
	switch {
	case top*2 > kept:
		why(fmt.Sprintf("%s of the free memory is at the ends of the heaps: malloc returns that part only above a threshold, which grows with the largest block that was freed",
			size(top)))
	case whole > 0:
		why(fmt.Sprintf("%s of the free memory is whole pages, which malloc_trim(0) returns; %s shares its pages with blocks in use", size(top+whole), size(between)))
	default:
		why("all of it shares its pages with blocks in use")
	}
	f.Why = append(f.Why, c.sizesWhy()...)
	return f
}

// turnsOver reports whether native memory came and went all the time, so that what malloc keeps is what it has not given
// back yet: pages were written for the first time twice as much as there is, which memory that stays with malloc never is again, and
// within the last half of the time malloc kept less than half of it. Six queries of SQLite that sort 400 MB of blobs look so at a kill.
func (c *Case) turnsOver() bool {
	r := c.residentOf()
	if c.malloc == nil || r == nil || !r.turnsOver() {
		return false
	}
	half := c.Moment.At.Add(-c.Moment.At.Sub(c.Start) / 2)
	for i := range c.Mallocs {
		look := &c.Mallocs[i]
		if look.At.After(half) && look.At.Before(c.Moment.At) && look.WhyNot == "" && look.System > 0 && look.FreeResident*2 < c.mallocKeeps() {
			return true
		}
	}
	return false
}

// keptFreed is what malloc keeps of what C code has freed, as mallocKeeps has it, 0 where that comes and goes.
func (c *Case) keptFreed() sample.Bytes {
	if c.turnsOver() {
		return 0
	}
	return c.mallocKeeps()
}

// keptBefore reports whether malloc kept half as much when it was looked at earlier, or was not looked at then. What it
// keeps at a kill alone may have been in use until then: memory that C code takes and gives back is no fragmentation.
func (c *Case) keptBefore(kept sample.Bytes) bool {
	looked := false
	for i := range c.Mallocs {
		look := &c.Mallocs[i]
		if !look.At.Before(c.Moment.At) || look.WhyNot != "" {
			continue
		}
		if looked = true; look.FreeResident*2 >= kept {
			return true
		}
	}
	return !looked
}

// spread is how many arenas keep much of the memory, and whether the arenas of threads
// are several and keep most of it.
func (c *Case) spread() (n int, ok bool) {
	kept := c.mallocKeeps()
	var threads sample.Bytes
	for i, a := range c.malloc.Arenas {
		if float64(a.FreeResident) >= keptOfArena.v()*float64(kept) {
			n++
		}
		if i > 0 {
			threads += a.FreeResident
		}
	}
	return n, n >= int(keptArenas.v()) && threads*2 >= kept
}

// fragmented proposes what makes malloc keep less. What it would be is not predicted: try runs it.
func (p *proposals) fragmented(code func(string)) {
	setting := func(text string) {
		p.add(Fix{Text: text, Kind: "config", State: "untested", Setting: text, Limit: p.limit, Command: p.again(p.limit, text)})
	}
	top, whole, _ := p.keptParts()
	if _, ok := p.spread(); ok {
		setting("MALLOC_ARENA_MAX=1")
	}
	worth := func(b sample.Bytes) bool { return float64(b) >= keptPart.v()*float64(p.mallocKeeps()) }
	if worth(top) {
		setting("MALLOC_TRIM_THRESHOLD_=131072")
	}
	if worth(top + whole) {
		code(fmt.Sprintf("call malloc_trim(0) from C when such work is over: it would have returned %s", size(top+whole)))
	}
	code("allocate blocks that live long apart from short-lived ones, or use another allocator, such as jemalloc")
	if p.isGo(p.Subject) {
		p.vain("GOMEMLIMIT", "Go does not count native memory")
	}
	p.notPredicted("native memory does not depend on the Go heap")
}
