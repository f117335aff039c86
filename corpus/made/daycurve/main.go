// Daycurve keeps the carts of visitors while they are there. They come in the morning, are
// most at three fifths of its time, and go in the evening: it grows for long and comes down
// again, which is its work. No fault, and it has no faulty form.
package main

import (
	"container/list"
	"log"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type cart struct {
	visitor int
	goods   []byte
}

// carts drops what it does not need at once: the ones that came first go first.
type carts struct {
	byVisitor map[int]*list.Element
	order     *list.List
	next      int
}

func (c *carts) begin(size int) {
	c.byVisitor[c.next] = c.order.PushBack(&cart{c.next, frame.Touch(make([]byte, size))})
	c.next++
}

func (c *carts) end() {
	e := c.order.Front()
	delete(c.byVisitor, e.Value.(*cart).visitor)
	c.order.Remove(e)
}

// want is how many visitors are there at a part of the day, of most.
func want(part float64, most int) int {
	switch {
	case part < 0.6:
		return int(float64(most) * part / 0.6)
	case part < 0.7:
		return most
	case part < 0.9:
		return most - int(float64(most)*0.85*(part-0.7)/0.2)
	}
	return most * 15 / 100
}

func main() {
	f := frame.Parse()
	c := &carts{byVisitor: map[int]*list.Element{}, order: list.New()}
	most, began := f.Count(), time.Now()
	f.Total, f.Rate = 0, int64(f.Unit)*50 // looks fifty times a second
	f.Each(func(int) {
		n := want(float64(time.Since(began))/float64(f.For), most)
		for c.order.Len() < n {
			c.begin(f.Unit)
		}
		for c.order.Len() > n {
			c.end()
		}
		for range 20 { // some come and go at any time
			c.begin(f.Unit)
			c.end()
		}
	})
	log.Printf("%d carts", c.next)
	f.Stay()
}
