// Baseline loads a table that is larger than its limit. Repaired, it loads a
// quarter of it.
package main

import (
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type table struct{ blocks [][]byte }

func main() {
	f := frame.Parse()
	if f.Repaired {
		f.Total /= 4
	}
	t := load(f)
	for i := 0; !f.Over(); i++ {
		t.blocks[i%len(t.blocks)][0]++
		time.Sleep(time.Millisecond)
	}
}

func load(f *frame.Frame) *table {
	t := &table{}
	f.Each(func(int) {
		t.blocks = append(t.blocks, frame.Touch(make([]byte, f.Unit))) // truth: allocates
	})
	return t
}
