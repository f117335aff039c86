// Orderids remembers which orders it has seen. It takes the number of an order from
// its document with gjson, which gives a part of the document's own string: each
// number of 12 letters holds the document. Repaired, the number is copied.
package main

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type desk struct {
	seen     map[string]int
	repaired bool
}

func main() {
	f := frame.Parse()
	d := &desk{seen: map[string]int{}, repaired: f.Repaired}
	f.Each(func(i int) { d.accept(document(i, f.Unit)) })
	f.Stay()
	if len(d.seen) == 0 {
		panic("no order was seen")
	}
}

func document(i, size int) string {
	var b strings.Builder
	b.Grow(size) // truth: allocates
	fmt.Fprintf(&b, `{"number":"DE-%09d","lines":[`, i)
	for b.Len() < size-40 {
		b.WriteString(`{"article":4711,"pieces":2},`)
	}
	b.WriteString(`{}]}`)
	return b.String()
}

func (d *desk) accept(text string) {
	number := gjson.Get(text, "number").String()
	if d.repaired {
		number = strings.Clone(number)
	}
	d.seen[number] += int(gjson.Get(text, "lines.#").Int()) // truth: keeps
}
