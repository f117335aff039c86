package goheap

import (
	"cmp"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// Collection is a map, slice, string or channel that takes much more than it
// holds, or simply much.
type Collection struct {
	Object  uint32 // a map's or channel's header, a slice's or string's array
	Kind    string // "map", "slice", "string", "channel"
	Len     uint64 // entries; of strings bytes
	Cap     uint64 // room for so many; 0: not known
	Bytes   uint64 // of the array; of maps and channels 0
	Reached uint64 // bytes of the array in reach
}

// minListed is the smallest number of entries, or of bytes out of reach, of a
// collection that is listed.
const (
	minEntries = 1 << 10
	minQueued  = 2 // of a channel, whose values may each be large
	minWasted  = 4 << 10
	maxListed  = 1 << 20
)

// collections lists the slices and strings, and sorts all.
func (ty *typer) collections() {
	o := ty.o
	o.Taken = ty.heads.before
	for id, head := range ty.ringed {
		o.Taken[id] = max(o.Taken[id], head)
	}
	for id, c := range ty.covers {
		if len(o.Collections) == maxListed {
			break
		}
		kind, size := "string", o.Size(id)
		if c.slice {
			kind = "slice"
		}
		o.Collections = append(o.Collections, Collection{Object: id, Kind: kind, Len: c.len, Bytes: size, Reached: min(size, c.hi-c.lo)})
	}
	slices.SortFunc(o.Collections, func(a, b Collection) int { return cmp.Compare(a.Object, b.Object) })
}

// collection lists a map or channel, whose contents are b.
func (ty *typer) collection(id uint32, g *goType, b []byte) {
	if c, ok := ty.o.header(id, g, b); ok && len(ty.o.Collections) < maxListed {
		ty.o.Collections = append(ty.o.Collections, c)
	}
}

// header reads a map's or channel's header.
func (o *Objects) header(id uint32, g *goType, b []byte) (Collection, bool) {
	if len(b) < 48 {
		return Collection{}, false
	}
	c := Collection{Object: id, Kind: "map", Len: gomem.Word(b, 0)} // hmap.count, maps.Map.used, hchan.qcount
	if g.role == roleChan {
		c.Kind, c.Cap = "channel", gomem.Word(b, 8) // dataqsiz
		return c, c.Len >= minQueued
	}
	c.Cap = o.room(b)
	return c, c.Len >= minEntries || c.Cap >= minEntries && c.Cap < 1<<40
}

// room is how many entries a map has room for.
func (o *Objects) room(b []byte) uint64 {
	if !o.Types.swiss {
		return 8 << min(b[9], 48) // hmap.B
	}
	n := gomem.Word(b, 24) // maps.Map.dirLen
	if n == 0 {
		return 8
	}
	dir := o.pointed(gomem.Word(b, 16))
	total := uint64(0)
	for i, last := uint64(0), uint64(0); i < n && 8*i+8 <= uint64(len(dir)); i++ {
		table := gomem.Word(dir, 8*i)
		if t := o.pointed(table); table != last && len(t) >= 4 {
			total += uint64(gomem.Short(t, 2)) // maps.table.capacity
		}
		last = table
	}
	return total
}

// pointed is the contents of the object whose first value is at p.
func (o *Objects) pointed(p uint64) []byte {
	id, k, behind, ok := o.find(p)
	if !ok || behind != k.header {
		return nil
	}
	if b := o.contents(id); len(b) > 8 {
		return b[behind:]
	}
	return nil
}
