// Cachefill has a cache with a bound. It fills while questions are new, and stands
// still when it is full: no fault. It has no faulty form.
package main

import "github.com/highwater-go/highwater/corpus/made/frame"

type cache struct {
	entries map[int][]byte
	most    int
}

func main() {
	f := frame.Parse()
	c := &cache{entries: map[int][]byte{}, most: f.Count()}
	f.Total = 0 // the questions go on
	f.Each(func(i int) { c.get(i, f.Unit) })
}

func (c *cache) get(i, size int) []byte {
	k := i % c.most
	if c.entries[k] == nil {
		c.entries[k] = frame.Touch(make([]byte, size)) // truth: allocates
	}
	return c.entries[k]
}
