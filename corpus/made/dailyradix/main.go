// Dailyradix looks up whose a telephone number is, by its longest known prefix, in a radix
// tree of armon/go-radix. The list of prefixes is new each day, here every three seconds; the
// new tree is made beside the old one and takes its place. No fault, and it has no faulty form.
package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/armon/go-radix"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// prefixBytes is what a prefix takes in the tree, with its tariff.
const prefixBytes = 640

type tariff struct {
	owner string
	cents [48]int32 // by half hour
	notes string
}

type numbers struct {
	now   atomic.Pointer[radix.Tree]
	found int
	cents int64
}

func main() {
	f := frame.Parse()
	count := int(f.Total / 2 / prefixBytes)
	n := &numbers{}
	n.now.Store(build(count, 0, f.Over))
	go func() {
		for day := 1; !f.Over(); day++ {
			for next := time.Now().Add(3 * time.Second); !f.Over() && time.Now().Before(next); {
				time.Sleep(20 * time.Millisecond)
			}
			n.now.Store(build(count, day, f.Over))
		}
	}()
	for i := 0; !f.Over(); i++ {
		n.lookup(fmt.Sprintf("%s%04d", prefix(i*7%max(1, count)), i%10_000), i%48)
		time.Sleep(2 * time.Millisecond)
	}
}

// build makes the tree of one day.
func build(count, day int, over func() bool) *radix.Tree {
	tree := radix.New()
	for i := range count {
		if i%1000 == 0 && over() {
			break
		}
		tree.Insert(prefix(i), newTariff(i, day)) // truth: allocates
	}
	return tree
}

func prefix(i int) string { return fmt.Sprintf("00%02d%06d", i%89+10, i) }

func newTariff(i, day int) *tariff {
	t := &tariff{owner: fmt.Sprintf("Company %d", i%4000)} // truth: allocates
	for n := range t.cents {
		t.cents[n] = int32(i + day + n)
	}
	t.notes = fmt.Sprintf("valid on day %d, for calls of at least %d seconds, %040d", day, i%60, i) // truth: allocates
	return t
}

func (n *numbers) lookup(number string, at int) {
	if _, value, ok := n.now.Load().LongestPrefix(number); ok {
		n.found++
		n.cents += int64(value.(*tariff).cents[at])
	}
}
