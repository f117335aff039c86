// Subslice keeps the header of each message, a slice of it, and so the message.
// Repaired, it copies the header.
package main

import (
	"bytes"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type inbox struct{ headers map[int][]byte }

func main() {
	f := frame.Parse()
	box := inbox{map[int][]byte{}}
	f.Each(func(i int) { box.take(i, receive(f.Unit), f.Repaired) })
	f.Stay()
}

func receive(size int) []byte {
	return frame.Touch(make([]byte, size)) // truth: allocates
}

func (b *inbox) take(i int, message []byte, repaired bool) {
	header := message[:min(64, len(message))]
	if repaired {
		header = bytes.Clone(header)
	}
	b.headers[i] = header // truth: keeps
}
