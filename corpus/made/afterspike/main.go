// Afterspike builds an index of Total once, at the first fifth of its time, drops
// it and then needs little: no fault. It has no faulty form.
package main

import "github.com/highwater-go/highwater/corpus/made/frame"

func main() {
	f := frame.Parse()
	if build(f.Count(), f.Unit) == 0 {
		panic("the index is empty")
	}
	f.Total, f.Unit, f.Rate = 0, 4<<10, 4<<20
	sum := 0
	f.Each(func(int) { sum += len(answer(f.Unit)) })
}

func build(n, size int) int {
	index := map[int][]byte{}
	for i := range n {
		index[i] = frame.Touch(make([]byte, size)) // truth: allocates
	}
	return len(index)
}

//go:noinline
func answer(size int) []byte { return frame.Touch(make([]byte, size)) }
