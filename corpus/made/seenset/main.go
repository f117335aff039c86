// Seenset takes in events of which some come twice, and drops the second by a set
// of all numbers that it ever saw. Nothing else is kept: the memory is the set's
// own, which doubles now and then. Repaired, it has two halves and forgets the older.
package main

import (
	"math/bits"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// perEvent is about what a number takes in the set, in bytes.
const perEvent = 32

type number [2]uint64

type ingester struct {
	seen  map[number]struct{}
	older map[number]struct{}
	most  int // of a half; 0: no bound
	twice int
}

func main() {
	f := frame.Parse()
	g := &ingester{seen: map[number]struct{}{}}
	if f.Repaired {
		g.most = 20_000
	}
	n, bytes := uint64(0), int64(0)
	f.Each(func(i int) {
		for ; bytes < int64(i+1)*int64(f.Unit); bytes += perEvent {
			n++
			g.take(numberOf(n))
			if n%64 == 0 {
				g.take(numberOf(n - 32))
			}
		}
	})
	f.Stay()
}

func numberOf(n uint64) number {
	high, low := bits.Mul64(n, 0x9E3779B97F4A7C15)
	return number{high ^ low<<13, low ^ n}
}

func (g *ingester) take(n number) {
	_, new1 := g.seen[n]
	_, new2 := g.older[n]
	if new1 || new2 {
		g.twice++
		return
	}
	if g.most > 0 && len(g.seen) >= g.most {
		g.seen, g.older = map[number]struct{}{}, g.seen
	}
	g.seen[n] = struct{}{} // truth: keeps
}
