package corefile

import (
	"bytes"
	"debug/elf"
	"sort"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// pageSize is the smallest page of the architectures that are read.
const pageSize = 4 << 10

// chunk is how much is read at once.
const chunk = 1 << 20

// Residency divides the pages that the core holds and that are not all zeros: a
// core does not say which were resident, but only such pages can have been
// written. Pages swapped out are among them; so are no pages of zeros, though the
// program may have written those. Pages of the executable that were not changed
// are left out where it was given. ranges are those of package gomem; goKnown
// says that there are any.
func (c *Core) Residency(ranges []sample.PageRange, goKnown bool) (*sample.Residency, error) {
	r := &sample.Residency{GoKnown: goKnown}
	places := placesOf(ranges)
	buf := make([]byte, chunk)
	for i := range c.segments {
		s := &c.segments[i]
		for at := uint64(0); at < s.held; {
			n := min(chunk-(s.Start+at)%pageSize, s.held-at)
			if _, err := readFull(c.file, buf[:n], s.offset+int64(at)); err != nil {
				return nil, err
			}
			c.count(r, s, s.Start+at, buf[:n], &places)
			at += n
		}
	}
	for _, g := range ranges {
		if g.Kind == sample.RangeObjects || g.Kind == sample.RangeObjectsNew {
			r.Untouched += sample.Bytes(g.End - g.Start)
		}
	}
	r.Untouched = r.Untouched.Sub(r.GoObjects)
	r.Anon = r.GoObjects + r.GoIdle + r.GoStacks + r.GoRuntime + r.Mmap + r.Image
	return r, nil
}

var zeros [pageSize]byte

// count adds the pages of b, which lie at addr, to their rows.
func (c *Core) count(r *sample.Residency, s *Segment, addr uint64, b []byte, places *places) {
	f := c.fileAt(addr)
	for len(b) > 0 {
		n := min(uint64(len(b)), pageSize-addr%pageSize)
		page := b[:n]
		b = b[n:]
		if !bytes.Equal(page, zeros[:n]) && !(f != nil && c.unchanged(page, addr, f)) {
			*places.row(r, addr, c.isImage(s, f)) += sample.Bytes(n)
		}
		addr += n
	}
}

// unchanged reports whether the page is as it lies in the file.
func (c *Core) unchanged(page []byte, addr uint64, f *File) bool {
	if c.exe == nil || c.exe.path != f.Path {
		return false
	}
	var own [pageSize]byte
	n, err := c.readFile(own[:len(page)], addr, f)
	return err == nil && n == len(page) && bytes.Equal(own[:n], page)
}

// isImage reports whether a segment has written pages of a mapped file, or the stack of the main thread.
func (c *Core) isImage(s *Segment, f *File) bool {
	if f != nil {
		return true
	}
	for _, t := range c.Threads {
		if t.TID == c.PID && s.Start <= t.SP && t.SP < s.End && s.Flags&elf.PF_W != 0 {
			return true
		}
	}
	return false
}

// places are the ranges by address: arenas, which contain the others, apart.
type places struct{ arenas, others []sample.PageRange }

func placesOf(ranges []sample.PageRange) (p places) {
	for _, r := range ranges {
		if r.Kind == sample.RangeArena {
			p.arenas = append(p.arenas, r)
		} else {
			p.others = append(p.others, r)
		}
	}
	for _, list := range [][]sample.PageRange{p.arenas, p.others} {
		sort.Slice(list, func(i, j int) bool { return list[i].Start < list[j].Start })
	}
	return p
}

// row is where the page at addr counts.
func (p *places) row(r *sample.Residency, addr uint64, image bool) *sample.Bytes {
	if in, ok := rangeAt(p.others, addr); ok {
		switch in.Kind {
		case sample.RangeObjects, sample.RangeObjectsNew:
			return &r.GoObjects
		case sample.RangeStacks:
			return &r.GoStacks
		}
		return &r.GoRuntime
	}
	if _, ok := rangeAt(p.arenas, addr); ok {
		return &r.GoIdle
	}
	if image {
		return &r.Image
	}
	return &r.Mmap
}

func rangeAt(list []sample.PageRange, addr uint64) (sample.PageRange, bool) {
	i := sort.Search(len(list), func(i int) bool { return list[i].Start > addr }) - 1
	if i < 0 || addr >= list[i].End {
		return sample.PageRange{}, false
	}
	return list[i], true
}
