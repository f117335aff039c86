// Tightheap keeps the open positions of a broker in a tree, and answers questions about
// them. It is run with a memory limit for the collector that has hardly any room over
// what is live. Repaired, it is run with one that has.
package main

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/google/btree"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// positionBytes is what a position takes, with its part of the tree.
const positionBytes = 275

type trade struct {
	next  *trade
	price float64
	count int
}

type position struct {
	Account int    `json:"account"`
	Paper   string `json:"paper"`
	Count   int    `json:"count"`
	trades  *trade
}

type book struct{ positions *btree.BTreeG[*position] }

func main() {
	f := frame.Parse()
	b := load(int(f.Total / positionBytes)) // truth: live
	f.Total, f.Unit = 0, 8<<10
	f.Each(func(i int) {
		if _, err := b.statement(i * 31 % max(1, b.positions.Len())); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func load(n int) *book {
	b := &book{btree.NewG(32, func(x, y *position) bool { return x.Account < y.Account })}
	for i := range n {
		p := &position{Account: i, Paper: fmt.Sprintf("DE%010d", i*7919), Count: i % 900} // truth: live
		for k := range 8 {
			p.trades = &trade{p.trades, float64(i%100) + float64(k)/8, k + 1} // truth: live
		}
		b.positions.ReplaceOrInsert(p) // truth: live
	}
	return b
}

// statement is a page about some accounts.
func (b *book) statement(from int) ([]byte, error) {
	some := make([]*position, 0, 40)                                                    // truth: garbage
	b.positions.AscendGreaterOrEqual(&position{Account: from}, func(p *position) bool { // truth: garbage
		some = append(some, p)
		return len(some) < 40
	})
	worth := 0.0
	for _, p := range some {
		for t := p.trades; t != nil; t = t.next {
			worth += t.price * float64(t.count)
		}
	}
	return json.Marshal(map[string]any{"positions": some, "worth": worth}) // truth: garbage
}
