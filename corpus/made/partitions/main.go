// Partitions is one of several consumers of a topic. Others are taken down for an update, and
// their partitions come to this one, one after another; it reads ahead in each, up to a number of
// messages, which it takes in turns. When it has all partitions it grows no more. No fault, and it
// has no faulty form.
package main

import (
	"fmt"
	"log"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const all = 16

type message struct {
	offset int
	text   []byte
}

// partition has messages that were read ahead, in a ring.
type partition struct {
	number int
	ahead  []message
	first  int
	next   int // offset
}

type consumer struct {
	partitions []*partition
	size       int
	taken      int
	sum        int
}

func (c *consumer) fetch(p *partition) message {
	text := frame.Touch(make([]byte, c.size))
	copy(text, fmt.Sprintf("partition %d, offset %d", p.number, p.next))
	p.next++
	return message{p.next - 1, text}
}

// assign takes a partition over and reads ahead in it.
func (c *consumer) assign(number, ahead int) {
	p := &partition{number: number}
	for range ahead {
		p.ahead = append(p.ahead, c.fetch(p))
	}
	c.partitions = append(c.partitions, p)
}

// take takes the oldest message of a partition, and reads the one after the newest.
func (c *consumer) take(p *partition) {
	m := p.ahead[p.first]
	c.sum += m.offset + int(m.text[0])
	p.ahead[p.first] = c.fetch(p)
	p.first = (p.first + 1) % len(p.ahead)
	c.taken++
}

func main() {
	f := frame.Parse()
	c := &consumer{size: f.Unit}
	ahead := f.Count()/all + 1
	f.Total = 0 // messages go on
	f.Each(func(i int) {
		if i%ahead == 0 && i/ahead < all {
			c.assign(i/ahead, ahead)
		}
		c.take(c.partitions[i%len(c.partitions)])
	})
	f.Stay()
	log.Printf("%d taken, sum %d", c.taken, c.sum)
}
