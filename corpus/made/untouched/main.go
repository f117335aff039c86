// Untouched makes a table for every tenant as large as a tenant may ever grow, and
// writes a page of it. Repaired, the table is as large as what is in it. What is
// never written needs no memory, and counts in the heap.
package main

import "github.com/highwater-go/highwater/corpus/made/frame"

func main() {
	f := frame.Parse()
	var tables [][]byte
	f.Each(func(int) {
		size := f.Unit
		if f.Repaired {
			size = 4 << 10
		}
		tables = append(tables, newTable(size))
	})
	f.Stay()
	if len(tables) == 0 {
		panic("no tables")
	}
}

func newTable(size int) []byte {
	t := make([]byte, size) // truth: allocates
	t[0] = 1
	return t
}
