package watch

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// nativeCell is the blocks of one stack.
type nativeCell struct {
	book      *nativeBook
	native    []uint64 // C's frames, innermost first
	pcs       []uint64 // Go's
	live      int      // sampled blocks
	bytes     float64
	objects   float64
	unsure    float64
	allocated float64
	changed   bool // since it was handed over
	births    []time.Time
}

// cell is the one of a stack.
func (b *nativeBook) cell(at *faultprofile.Place) *nativeCell {
	native := faultprofile.Unwind(b.pcs[:0], at, b.code, b.target.Text, b.target.Etext)
	b.pcs = native
	b.key = b.key[:0]
	for _, pc := range native {
		b.key = binary.LittleEndian.AppendUint64(b.key, pc)
	}
	b.key = append(b.key, '/')
	for _, pc := range at.PCs {
		b.key = binary.LittleEndian.AppendUint64(b.key, pc)
	}
	pcs := at.PCs
	c := b.cells[string(b.key)]
	if c == nil && len(b.order) >= maxNativeStacks {
		b.key = b.key[:0] // too many: one without a stack
		c, native, pcs = b.cells[""], nil, nil
	}
	if c == nil {
		c = &nativeCell{book: b, native: slices.Clone(native), pcs: slices.Clone(pcs)}
		b.cells[string(b.key)] = c
		b.order = append(b.order, c)
	}
	return c
}

// add counts a block in, or out where sign is -1.
func (c *nativeCell) add(b *nativeBlock, sign int) {
	c.live += sign
	c.bytes += float64(sign) * b.bytes
	c.objects += float64(sign) * b.objects
	c.unsure += float64(sign) * b.unsure
	c.changed = true
}

// told is what a stack has.
func (c *nativeCell) told(at time.Time) sample.NativeLive {
	l := sample.NativeLive{At: at, Process: c.book.p.key, Samples: uint64(max(0, c.live)), Allocated: sample.Bytes(max(0, c.allocated))}
	if c.live <= 0 {
		return l
	}
	l.Objects, l.Bytes, l.Error = uint64(math.Round(c.objects)), sample.Bytes(math.Round(c.bytes)), sample.Bytes(math.Sqrt(max(0, c.unsure)))
	if len(c.births) > 0 {
		slices.SortFunc(c.births, time.Time.Compare)
		l.Oldest, l.Median = c.births[0], c.births[len(c.births)/2]
	}
	return l
}
