package corefile

import (
	"bytes"
	"debug/elf"
)

// Mapping is a range of addresses that the process had mapped, and what is known of it.
type Mapping struct {
	Start, End uint64
	Writable   bool
	Path       string // of the file; "": anonymous memory
}

// Mappings are the core's segments, by address, without those that lie over another.
func (c *Core) Mappings() []Mapping {
	var out []Mapping
	end := uint64(0)
	for i := range c.segments {
		s := &c.segments[i]
		if s.Start < end {
			continue
		}
		end = s.End
		m := Mapping{Start: s.Start, End: s.End, Writable: s.Flags&elf.PF_W != 0 && s.Flags&elf.PF_R != 0}
		if f := c.fileAt(s.Start); f != nil {
			m.Path = f.Path
		}
		out = append(out, m)
	}
	return out
}

// Written appends, for each page of [start, end), whether the core holds it and it has anything
// but zeros: only such a page can have been in memory.
func (c *Core) Written(dst []bool, start, end uint64) ([]bool, error) {
	page := make([]byte, pageSize)
	for at := start; at < end; at += pageSize {
		i := c.find(at)
		held := i >= 0 && at-c.segments[i].Start+pageSize <= c.segments[i].held
		if held {
			if _, err := c.ReadAt(page, int64(at)); err != nil {
				return dst, err
			}
		}
		dst = append(dst, held && !bytes.Equal(page, zeros[:]))
	}
	return dst, nil
}
