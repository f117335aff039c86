// Prefetch reads blocks of an object ahead of the one who unpacks them, as many as
// the channel has room for: 96, of which the unpacker, who is slower, would need
// two. Repaired, it has room for two.
package main

import (
	"hash/crc32"
	"io"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// object is what is read: endless, and a network away.
type object struct{ offset byte }

func (o *object) Read(p []byte) (int, error) {
	time.Sleep(12 * time.Millisecond)
	frame.Touch(p)
	o.offset++
	p[0] = o.offset
	return len(p), nil
}

type block struct {
	number int
	data   []byte
}

func main() {
	f := frame.Parse()
	ahead := 96
	if f.Repaired {
		ahead = 2
	}
	blocks := make(chan *block, ahead)
	go readAhead(&object{}, f.Unit, blocks)
	sum := uint32(0)
	for !f.Over() {
		b := <-blocks
		sum = crc32.Update(sum, crc32.IEEETable, b.data)
		time.Sleep(30 * time.Millisecond) // it is written to a disk
	}
}

func readAhead(from io.Reader, size int, blocks chan<- *block) {
	for n := 0; ; n++ {
		b := &block{n, make([]byte, size)} // truth: allocates
		if _, err := io.ReadFull(from, b.data); err != nil {
			close(blocks)
			return
		}
		blocks <- b // truth: keeps
	}
}
