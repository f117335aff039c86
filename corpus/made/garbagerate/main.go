// Garbagerate makes a new buffer for every message, as fast as it can, and so
// keeps the collector at work over a heap of some MiB. Repaired, it uses one.
package main

import "github.com/highwater-go/highwater/corpus/made/frame"

type codec struct{ buffer []byte }

func main() {
	f := frame.Parse()
	words := vocabulary()
	c := &codec{}
	sum := 0
	for i := 0; !f.Over(); i++ {
		for range 200 {
			sum += len(c.encode(words[i%len(words)], f.Repaired))
		}
	}
}

// vocabulary is small objects with pointers: what makes a collection costly.
func vocabulary() (words []*string) {
	for i := range 60000 {
		w := string(rune('a'+i%26)) + "word"
		words = append(words, &w)
	}
	return words
}

//go:noinline
func (c *codec) encode(word *string, repaired bool) []byte {
	if !repaired {
		b := make([]byte, 0, 4<<10) // truth: allocates
		return append(b, *word...)
	}
	if c.buffer == nil {
		c.buffer = make([]byte, 0, 4<<10)
	}
	return append(c.buffer[:0], *word...)
}
