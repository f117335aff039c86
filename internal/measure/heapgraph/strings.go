package heapgraph

import (
	"cmp"
	"context"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
)

// Strings is how many of a heap's reachable strings are copies of others.
type Strings struct {
	Copies
	On   []StringsOn // most bytes of copies first
	Left goheap.StringsLeft
}

// Copies is strings, compared with each other. Bytes are those of their contents.
type Copies struct {
	Strings, Distinct uint64
	Bytes             uint64
	Copied            uint64 // bytes that would not be there if each were there once
}

// StringsOn is those on one path.
type StringsOn struct {
	Path string
	Copies
}

// hashed is a string.
type hashed struct {
	hash         uint64
	path, length uint32
}

func (a hashed) compare(b hashed) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.length, b.length))
}

// Strings compares the strings of the heap. Objects.WantStrings must have been called
// before the types were found.
func (a *Analysis) Strings(ctx context.Context) (*Strings, error) {
	var all []hashed
	left, err := a.Objects.HashStrings(ctx, func(object, length uint32, hash uint64) {
		if a.tree.dominator(object) != none {
			all = append(all, hashed{hash, *a.path(object), length})
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, hashed.compare)
	s := &Strings{Copies: copiesIn(all), Left: left}
	slices.SortStableFunc(all, func(x, y hashed) int { return cmp.Compare(x.path, y.path) })
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].path == all[0].path {
			n++
		}
		s.On = append(s.On, StringsOn{a.Path(all[0].path), copiesIn(all[:n])})
		all = all[n:]
	}
	slices.SortFunc(s.On, func(x, y StringsOn) int {
		return cmp.Or(cmp.Compare(y.Copied, x.Copied), cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Path, y.Path))
	})
	return s, ctx.Err()
}

// copiesIn counts strings, equal ones beside each other.
func copiesIn(all []hashed) (c Copies) {
	for i, s := range all {
		c.Strings++
		c.Bytes += uint64(s.length)
		if i > 0 && s.compare(all[i-1]) == 0 {
			c.Copied += uint64(s.length)
		} else {
			c.Distinct++
		}
	}
	return c
}
