package explain

import (
	"cmp"
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// mallocs reads what C's malloc said of itself.
func (l *loader) mallocs() (err error) {
	l.e.Mallocs, err = l.MallocsOf(l.e.Subject)
	return err
}

// mallocNow is what malloc said at the moment, else the last time before it: it is looked at where native
// memory moved. A peak may be read while C code is still freeing: where malloc gave nothing back afterwards,
// what it said last is what it came to. One that was not read is nil.
func (c *Case) mallocNow() *sample.Malloc {
	if c.proc == nil {
		return nil
	}
	m := c.proc.Malloc
	for i := range c.Mallocs {
		if look := &c.Mallocs[i]; c.proc.Malloc == nil && !look.At.After(c.Moment.At) {
			m = &look.Malloc
		}
	}
	if m == nil || m.WhyNot != "" {
		return nil
	}
	if c.At == "peak" && !c.outcome.Kernel {
		return c.mallocAfter(m)
	}
	return m
}

// mallocAfter is the last look after the moment by which malloc had given less than an eighth back. The last reading of a program that
// ended by itself does not count: by then the program has closed what it had open.
func (c *Case) mallocAfter(m *sample.Malloc) *sample.Malloc {
	for i := range c.Mallocs {
		look := &c.Mallocs[i]
		atItsEnd := c.endedWell() && c.seconds(look.At) > c.outcome.Elapsed-0.1
		if look.At.After(c.Moment.At) && !atItsEnd && look.WhyNot == "" && look.FreeResident+look.InUse >= (m.FreeResident+m.InUse)/8*7 {
			m = &look.Malloc
		}
	}
	return m
}

// mallocKeeps is the resident memory that malloc keeps of what C code has freed, 0 where that is not known.
func (c *Case) mallocKeeps() sample.Bytes {
	if c.malloc == nil || c.proc == nil || c.proc.Residency == nil {
		return 0
	}
	return min(c.malloc.FreeResident, c.proc.Residency.CMalloc)
}

// keptParts divides it: at the ends of heaps, in whole pages, and between blocks in use.
func (c *Case) keptParts() (top, whole, between sample.Bytes) {
	kept := c.mallocKeeps()
	top = min(c.malloc.Top, kept)
	whole = min(c.malloc.Whole, kept-top)
	return top, whole, kept - top - whole
}

// grownSize is blocks of one size, and how many more there are than at the first look.
type grownSize struct {
	sample.MallocSize
	more int64
}

// sizesGrown are the sizes of blocks in use by how much they grew since the first look, those that
// grew most first; looked says whether there was an earlier one.
func (c *Case) sizesGrown() (list []grownSize, looked bool) {
	if c.malloc == nil {
		return nil, false
	}
	type kind struct {
		size   sample.Bytes
		mapped bool
	}
	first := map[kind]uint64{}
	if len(c.Mallocs) > 0 && c.Mallocs[0].At.Before(c.Moment.At) && c.Mallocs[0].WhyNot == "" && !isPartial(&c.Mallocs[0].Malloc) {
		looked = true
		for _, s := range c.Mallocs[0].Sizes {
			first[kind{s.Size, s.Mapped}] += s.Count
		}
	}
	for _, s := range c.malloc.Sizes {
		list = append(list, grownSize{s, int64(s.Count) - int64(first[kind{s.Size, s.Mapped}])})
	}
	sorting.Stable(list, func(a, b grownSize) int {
		return cmp.Compare(b.more*int64(b.Size), a.more*int64(a.Size))
	})
	return list, looked
}

// sizesNamed is how many sizes a sentence names.
const sizesNamed = 3

// sizesWhy names the blocks in use that make most of them, by size.
func (c *Case) sizesWhy() []Why {
	sizes, looked := c.sizesGrown()
	var words []string
	var named sample.Bytes
	for _, s := range sizes {
		if len(words) == sizesNamed || s.Bytes()*10 < c.malloc.InUse+c.malloc.Mapped || s.more <= 0 {
			break
		}
		words = append(words, s.words(looked))
		named += s.Bytes()
	}
	if len(words) == 0 {
		return nil
	}
	return []Why{{Text: fmt.Sprintf("C code has in use: %s", list(words, "and")), Evidence: []string{"malloc"}}}
}

// words say it: "1,200 blocks of 20,016 bytes (22.9 MiB), all new since the first look".
func (s grownSize) words(looked bool) string {
	text := fmt.Sprintf("%s of %s bytes (%s)", count(int(s.Count), "block"), sample.Thousands(uint64(s.Size)), size(s.Bytes()))
	switch {
	case !looked || s.more <= 0:
		return text
	case uint64(s.more) == s.Count:
		return text + ", all new since the first look"
	}
	return text + fmt.Sprintf(", %s new since the first look", sample.Thousands(uint64(s.more)))
}

// mallocFacts is what malloc says, none where it was not read.
func (c *Case) mallocFacts() []Fact {
	m := c.malloc
	if m == nil {
		return c.unreadMalloc()
	}
	f := Fact{ID: "malloc", Values: map[string]int64{
		"in_use_bytes": int64(m.InUse + m.Mapped), "blocks": int64(m.Blocks + m.MappedBlocks), "kept_bytes": int64(c.mallocKeeps()),
		"arenas": int64(len(m.Arenas) + m.Others)}}
	f.Text = fmt.Sprintf("C's malloc (%s): %s in use in %s, %s free and kept in %s", m.Allocator, size(m.InUse+m.Mapped),
		count(int(m.Blocks+m.MappedBlocks), "block"), size(c.mallocKeeps()), count(len(m.Arenas)+m.Others, "arena"))
	if isPartial(m) {
		f.Values["unread_bytes"] = int64(m.Unread)
		f.Text += fmt.Sprintf("; %s were not read: %s", size(m.Unread), m.WhyUnread)
	}
	return []Fact{f}
}

// isPartial reports whether so much of malloc's memory was not read that it is to be said.
func isPartial(m *sample.Malloc) bool { return float64(m.Unread) > unreadPart.v()*float64(m.System) }

// unreadMalloc names an allocator that is not read.
func (c *Case) unreadMalloc() []Fact {
	if m := c.namedMalloc(); m != nil {
		return []Fact{{ID: "malloc", Text: fmt.Sprintf("C's allocator is %s: %s", m.Allocator, m.WhyNot), Values: map[string]int64{}}}
	}
	return nil
}

// namedMalloc is an allocator that is known and was not read, nil: there is none.
func (c *Case) namedMalloc() *sample.Malloc {
	for i := len(c.Mallocs) - 1; i >= 0; i-- {
		if m := &c.Mallocs[i].Malloc; m.WhyNot != "" && m.Allocator != "" {
			return m
		}
	}
	return nil
}

// hasMuchNative says whether the subject has so much native memory that it matters what is not known of it.
func (c *Case) hasMuchNative() bool { return float64(c.own.Row(sample.RowNative)) >= keptSeen.v() }

// mallocGap is what is not known of memory that C code has freed, where native memory is much.
func (c *Case) mallocGap() (g Gap, ok bool) {
	const what = "how much of the native memory C code has freed"
	if !c.hasMuchNative() {
		return g, false
	}
	if m := c.namedMalloc(); m != nil && c.malloc == nil {
		return Gap{what, m.WhyNot}, true
	}
	if c.malloc != nil && isPartial(c.malloc) {
		return Gap{what, fmt.Sprintf("%s of malloc's memory were not read: %s", size(c.malloc.Unread), c.malloc.WhyUnread)}, true
	}
	return g, false
}
