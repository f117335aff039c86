// Reindex searches job offers by word, and makes its index anew every few seconds
// while the old one still answers; then they are swapped. For that time it needs
// twice as much, and has the room. No fault, and it has no faulty form.
package main

import (
	"fmt"
	"hash/fnv"
	"sync/atomic"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// offerBytes is what an offer takes in the index, with its words.
const offerBytes = 640

type offer struct {
	number int
	text   string
}

type index struct {
	made   time.Time
	offers []offer
	byWord map[string][]int32
}

type engine struct {
	now   atomic.Pointer[index]
	found int
}

var words = []string{"baker", "driver", "nurse", "teacher", "welder", "night", "day", "part", "full", "north", "south", "harbour"}

func main() {
	f := frame.Parse()
	offers := int(f.Total / 2 / offerBytes)
	e := &engine{}
	e.now.Store(build(offers, f.Over))
	go func() {
		for !f.Over() {
			time.Sleep(3 * time.Second)
			e.now.Store(build(offers, f.Over))
		}
	}()
	for i := 0; !f.Over(); i++ {
		e.search(words[i%len(words)], words[i*7%len(words)])
		time.Sleep(5 * time.Millisecond)
	}
}

// build makes an index of n offers.
func build(n int, over func() bool) *index {
	x := &index{made: time.Now(), byWord: map[string][]int32{}}
	for i := range n {
		if i%1000 == 0 && over() {
			break
		}
		x.add(read(i))
	}
	return x
}

// read is an offer as it is in the database.
func read(i int) offer {
	h := fnv.New32a()
	fmt.Fprint(h, i)
	a, b := words[h.Sum32()%uint32(len(words))], words[h.Sum32()/64%uint32(len(words))]
	text := fmt.Sprintf("Offer %d: %s wanted, for work by %s; the usual pay, a warm meal, and five weeks of holidays a year. %0200d", i, a, b, i) // truth: allocates
	return offer{i, text}
}

func (x *index) add(o offer) {
	x.offers = append(x.offers, o) // truth: allocates
	start := 0
	for end, r := range o.text {
		if r != ' ' && r != ',' && r != ';' && r != ':' {
			continue
		}
		if word := o.text[start:end]; len(word) > 2 {
			x.byWord[word] = append(x.byWord[word], int32(len(x.offers)-1)) // truth: allocates
		}
		start = end + 1
	}
}

// search counts the offers that have both words.
func (e *engine) search(a, b string) int {
	x, both := e.now.Load(), 0
	first := x.byWord[a]
	for _, n := range x.byWord[b][:min(100, len(x.byWord[b]))] {
		for _, m := range first[:min(100, len(first))] {
			if n == m {
				both++
			}
		}
	}
	e.found += both
	return both
}
