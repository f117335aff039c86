package recording

import (
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// ringGrowth bounds the stacks by which a Ring keeps what made resident memory grow.
const ringGrowth = 1024

// Growth keeps what made resident memory grow: each part of it, and of one stack the sum where they are many.
func (r *Ring) Growth(list []sample.ResidentGrowth) error {
	if r.growth = append(r.growth, list...); len(r.growth) > ringGrowth {
		r.growth = summed(r.growth)
		r.moves = r.moves || len(r.growth) > ringGrowth/2
	}
	return nil
}

// summed adds up what has the same process, kind and stacks.
func summed(list []sample.ResidentGrowth) (out []sample.ResidentGrowth) {
	at := map[string]int{}
	for i := range list {
		g := &list[i]
		key := fmt.Sprint(g.Process, g.Kind, addresses(g.Where), addresses(g.Mapped))
		k, known := at[key]
		if !known {
			at[key] = len(out)
			out = append(out, *g)
			continue
		}
		sum := &out[k]
		sum.Samples, sum.Bytes = sum.Samples+g.Samples, sum.Bytes+g.Bytes
		if sum.At.Before(g.At) {
			sum.At = g.At
		}
	}
	return out
}

// addresses name a stack. A frame of C that has none is told by what it says.
func addresses(where []sample.Location) string {
	var b []byte
	for _, l := range where {
		if l.Address != 0 {
			b = fmt.Appendf(b, "%x ", l.Address)
		} else {
			b = fmt.Append(b, l.Frames, " ")
		}
	}
	return string(b)
}

// Native keeps C's live blocks by stack.
func (r *Ring) Native(head sample.NativeReading, list []sample.NativeLive) error {
	kept := slices.Clone(list)
	r.other(head.At, func(w *Writer) error { return w.Native(head, kept) })
	return nil
}
