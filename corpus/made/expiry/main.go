// Expiry is a store of leases in a tree by their end. The sweep takes the oldest
// ones out and stops at the first that it may not take: a pinned one, which stays
// the oldest for ever. Repaired, it passes over pinned ones.
package main

import (
	"github.com/google/btree"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type lease struct {
	end    int
	pinned bool
	value  []byte
}

type store struct {
	leases   *btree.BTreeG[*lease]
	lasts    int // how many are live at a time
	repaired bool
}

func main() {
	f := frame.Parse()
	s := &store{lasts: 300, repaired: f.Repaired}
	s.leases = btree.NewG(32, func(a, b *lease) bool { return a.end < b.end })
	f.Each(func(i int) {
		s.grant(i, f.Unit)
		if i%16 == 0 {
			s.sweep(i)
		}
	})
	f.Stay()
}

func (s *store) grant(now, size int) {
	l := &lease{end: now + s.lasts, pinned: now == 40, value: frame.Touch(make([]byte, size))} // truth: allocates
	s.leases.ReplaceOrInsert(l)                                                                // truth: keeps
}

func (s *store) sweep(now int) {
	var over []*lease
	s.leases.AscendLessThan(&lease{end: now}, func(l *lease) bool {
		if l.pinned {
			return s.repaired // truth: stops
		}
		over = append(over, l)
		return true
	})
	for _, l := range over {
		s.leases.Delete(l)
	}
}
