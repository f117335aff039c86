// Deferloop defers the release of each message's buffer in a loop that does not
// end. Repaired, each message is a call.
package main

import "github.com/highwater-go/highwater/corpus/made/frame"

type consumer struct{ released int }

func main() {
	f := frame.Parse()
	c := &consumer{}
	c.consume(f)
}

func (c *consumer) consume(f *frame.Frame) {
	for turns := f.Turns(); turns.Next(); {
		if f.Repaired {
			c.one(f.Unit)
			continue
		}
		b := receive(f.Unit)
		defer c.release(b) // truth: keeps
	}
	f.Stay()
}

func (c *consumer) one(size int) {
	b := receive(size)
	defer c.release(b)
}

func receive(size int) []byte {
	return frame.Touch(make([]byte, size)) // truth: allocates
}

func (c *consumer) release(b []byte) { c.released += len(b) }
