// Cancelled reminds customers of a cart that they left: a reminder is put into a queue by the
// time that it is due at, an hour later, with the letter. Most customers come back in a minute, and
// their reminder is cancelled, which marks it only; it is thrown away when its time has come.
// Repaired, it is taken out of the queue at once.
package main

import (
	"container/heap"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type reminder struct {
	customer  int
	due       time.Time
	letter    []byte
	cancelled bool
	at        int // in the queue
}

// queue has what is due first at its top.
type queue []*reminder

func (q queue) Len() int           { return len(q) }
func (q queue) Less(a, b int) bool { return q[a].due.Before(q[b].due) }
func (q queue) Swap(a, b int) {
	q[a], q[b] = q[b], q[a]
	q[a].at, q[b].at = a, b
}

func (q *queue) Push(x any) {
	r := x.(*reminder)
	r.at = len(*q)
	*q = append(*q, r) // truth: keeps
}

func (q *queue) Pop() any {
	old := *q
	r := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return r
}

type scheduler struct {
	mu         sync.Mutex
	waiting    queue
	byCustomer map[int]*reminder
	remove     bool
	sent       int
}

func (s *scheduler) plan(r *reminder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	heap.Push(&s.waiting, r) // truth: plans
	s.byCustomer[r.customer] = r
}

// cancel is called when a customer has come back.
func (s *scheduler) cancel(customer int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.byCustomer[customer]
	if r == nil {
		return
	}
	delete(s.byCustomer, customer)
	if s.remove {
		heap.Remove(&s.waiting, r.at)
		return
	}
	r.cancelled = true // truth: marks
}

// tick sends what is due.
func (s *scheduler) tick(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting) > 0 && !s.waiting[0].due.After(now) {
		if r := heap.Pop(&s.waiting).(*reminder); !r.cancelled {
			delete(s.byCustomer, r.customer)
			s.sent++
		}
	}
}

// shop has 21 MiB of what can be in a cart.
type shop struct {
	goods map[string]*good
}

type good struct {
	name, text string
	cents      [60]int64
}

func newShop() *shop {
	s := &shop{goods: map[string]*good{}}
	for i := range 32_000 {
		g := &good{name: fmt.Sprintf("good-%06d", i), text: fmt.Sprintf("a thing of number %d", i)}
		for n := range g.cents {
			g.cents[n] = int64(i + n)
		}
		s.goods[g.name] = g
	}
	return s
}

// letter is what a reminder says.
func (s *shop) letter(i, size int) []byte {
	text := frame.Touch(make([]byte, size)) // truth: allocates
	g := s.goods[fmt.Sprintf("good-%06d", i%len(s.goods))]
	copy(text, fmt.Sprintf("Dear customer, %s (%s) waits for you, at %d cents", g.name, g.text, g.cents[i%60]))
	return text
}

func main() {
	f := frame.Parse()
	s, goods := &scheduler{byCustomer: map[int]*reminder{}, remove: f.Repaired}, newShop()
	go func() {
		for now := range time.Tick(50 * time.Millisecond) {
			s.tick(now)
		}
	}()
	f.Each(func(i int) {
		after := time.Hour
		if i%50 == 0 { // asked for one in a moment
			after = 200 * time.Millisecond
		}
		s.plan(&reminder{customer: i, due: time.Now().Add(after), letter: goods.letter(i, f.Unit)})
		s.cancel(i - 100)
	})
	f.Stay()
	log.Printf("%d letters sent", s.sent)
}
