// Substring keeps 16 bytes of each line, and with them the line. Repaired, it
// copies them.
package main

import (
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	f := frame.Parse()
	var ids []string
	f.Each(func(i int) {
		id := line(i, f.Unit)[:16]
		if f.Repaired {
			id = strings.Clone(id)
		}
		ids = append(ids, id) // truth: keeps
	})
	f.Stay()
	if len(ids) == 0 {
		panic("no ids")
	}
}

func line(i, size int) string {
	var b strings.Builder
	b.Grow(size) // truth: allocates
	for b.Len() < size-16 {
		b.WriteString("a field of a row")
	}
	return b.String()
}
