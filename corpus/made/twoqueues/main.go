// Twoqueues is a cache for pictures of articles, of the kind that has two queues: what is new
// goes into the first, and what is asked for again into the second. Both have their bound. It
// grows until they are full and stays there. No fault, and it has no faulty form.
package main

import (
	"container/list"
	"log"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type picture struct {
	article int
	pixels  []byte
}

// queue is bounded, and gives back what does not fit any more.
type queue struct {
	most  int
	order *list.List
	at    map[int]*list.Element
}

func newQueue(most int) *queue {
	return &queue{most, list.New(), map[int]*list.Element{}}
}

func (q *queue) put(p *picture) (gone *picture) {
	q.at[p.article] = q.order.PushFront(p)
	if q.order.Len() <= q.most {
		return nil
	}
	return q.remove(q.order.Back().Value.(*picture).article)
}

func (q *queue) remove(article int) *picture {
	e := q.at[article]
	if e == nil {
		return nil
	}
	delete(q.at, article)
	return q.order.Remove(e).(*picture)
}

type cache struct {
	fresh, often *queue
	hits, misses int
}

func (c *cache) get(article int, load func() *picture) *picture {
	if e := c.often.at[article]; e != nil {
		c.hits++
		c.often.order.MoveToFront(e)
		return e.Value.(*picture)
	}
	if p := c.fresh.remove(article); p != nil {
		c.hits++
		c.often.put(p)
		return p
	}
	c.misses++
	p := load()
	c.fresh.put(p)
	return p
}

func main() {
	f := frame.Parse()
	most := f.Count()
	c := &cache{fresh: newQueue(most / 4), often: newQueue(most - most/4)}
	f.Total = 0
	f.Each(func(i int) {
		load := func(n int) func() *picture {
			return func() *picture { return &picture{n, frame.Touch(make([]byte, f.Unit))} }
		}
		c.get(i, load(i))
		if i%16 != 0 { // most are asked for once more soon
			c.get(i, load(i))
		}
		c.get(i/2, load(i/2))
	})
	f.Stay()
	log.Printf("%d hits, %d misses", c.hits, c.misses)
}
