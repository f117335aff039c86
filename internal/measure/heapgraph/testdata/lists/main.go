// Command lists fills linked lists, says {} and moves on by a step for every line of its standard input, until that ends.
package main

import (
	"bufio"
	"container/list"
	"fmt"
	"os"
	"runtime/debug"
)

// A step is so many items that come, and so many that go.
const (
	come = 800
	gone = 300
)

type job struct{ body []byte }

// outbox is a queue of the standard library's list.
type outbox struct{ jobs *list.List }

func (o *outbox) step() {
	for range make([]int, come) {
		o.jobs.PushBack(&job{make([]byte, 100)})
	}
	for range make([]int, gone) {
		o.jobs.Remove(o.jobs.Front())
	}
}

type message struct {
	next *message
	text []byte
}

// inbox is a queue that knows its first and its last message.
type inbox struct{ first, last *message }

func (q *inbox) step() {
	for range make([]int, come) {
		m := &message{text: make([]byte, 100)}
		if q.last == nil {
			q.first = m
		} else {
			q.last.next = m
		}
		q.last = m
	}
	for range make([]int, gone) {
		m := q.first
		q.first, m.next = m.next, nil
	}
}

type event struct {
	text []byte
	next *event
}

// journal is a list that items are added to, and that none leaves.
type journal struct{ first, last *event }

func (j *journal) step() {
	for range make([]int, come-gone) {
		e := &event{text: make([]byte, 100)}
		if j.last == nil {
			j.first = e
		} else {
			j.last.next = e
		}
		j.last = e
	}
}

type frame struct {
	under *frame
	text  []byte
}

// stack is where the last item that came is the first to go.
type stack struct{ top *frame }

func (s *stack) step() {
	for i := 0; i < gone && s.top != nil; i++ {
		s.top = s.top.under
	}
	for range make([]int, come) {
		s.top = &frame{s.top, make([]byte, 100)}
	}
}

type page struct {
	newer, older *page
	number       int
	text         []byte
}

// cache has a map to its pages besides; the oldest go.
type cache struct {
	pages          map[int]*page
	newest, oldest *page
	n              int
}

func (c *cache) step() {
	for range make([]int, come) {
		p := &page{older: c.newest, number: c.n, text: make([]byte, 100)}
		if c.newest == nil {
			c.oldest = p
		} else {
			c.newest.newer = p
		}
		c.newest, c.pages[c.n] = p, p
		c.n++
	}
	for range make([]int, gone) {
		p := c.oldest
		c.oldest, c.oldest.newer.older = p.newer, nil
		delete(c.pages, p.number)
	}
}

type stepper interface{ step() }

var all []stepper

func main() {
	debug.SetGCPercent(20)
	for _, s := range []stepper{&outbox{list.New()}, &inbox{}, &journal{}, &stack{}, &cache{pages: map[int]*page{}}} {
		all = append(all, s) // an array of the heap
	}
	for lines := bufio.NewScanner(os.Stdin); ; {
		for _, s := range all {
			s.step()
		}
		fmt.Println("{}")
		if !lines.Scan() {
			return
		}
	}
}
