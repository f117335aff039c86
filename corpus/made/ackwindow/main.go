// Ackwindow takes messages from a broker, works on several at once, and commits to the broker
// how far all are done. What is done before an earlier one is marked in a window, which moves
// on when its first message is done. One message was given to a handler that returned without
// saying that it is done or failed; since then the window does not move. Repaired, a handler
// that says nothing has failed.
package main

import (
	"crypto/sha1"
	"log"
	"sync"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type message struct {
	offset  int64
	kind    int
	payload []byte
	done    bool
}

// window is what was taken and is not committed.
type window struct {
	mu        sync.Mutex
	messages  []*message
	committed int64
}

func (w *window) take(m *message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages = append(w.messages, m) // truth: keeps
}

func (w *window) done(m *message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m.done = true
	n := 0
	for n < len(w.messages) && w.messages[n].done { // truth: waits
		w.committed = w.messages[n].offset
		w.messages[n] = nil
		n++
	}
	w.messages = w.messages[n:]
}

type handler func(m *message, ack func())

type consumer struct {
	window   window
	handlers map[int]handler
	strict   bool
	work     chan *message
	workers  sync.WaitGroup
	mu       sync.Mutex
	sums     map[[sha1.Size]byte]int
	profiles map[int][]int64 // 20 MiB
}

func newConsumer(strict bool) *consumer {
	c := &consumer{strict: strict, work: make(chan *message, 16), sums: map[[sha1.Size]byte]int{}, profiles: map[int][]int64{}}
	c.handlers = map[int]handler{0: c.click, 1: c.order, 2: c.test}
	for i := range 10 << 10 {
		c.profiles[i] = make([]int64, 256)
		for n := range c.profiles[i] {
			c.profiles[i][n] = int64(i ^ n)
		}
	}
	for range 4 {
		c.workers.Add(1)
		go c.loop()
	}
	return c
}

func (c *consumer) click(m *message, ack func()) {
	c.mu.Lock()
	c.profiles[int(m.offset)%len(c.profiles)][m.offset%256]++
	c.mu.Unlock()
	ack()
}

func (c *consumer) order(m *message, ack func()) {
	sum := sha1.Sum(m.payload)
	c.mu.Lock()
	c.sums[[sha1.Size]byte{sum[0], sum[1]}]++
	c.mu.Unlock()
	ack()
}

// test is for the messages of a test of last year.
func (c *consumer) test(m *message, ack func()) {
	if len(m.payload) == 0 {
		ack()
	} // truth: forgets
}

func (c *consumer) loop() {
	defer c.workers.Done()
	for m := range c.work {
		said := false
		c.handlers[m.kind](m, func() {
			said = true
			c.window.done(m)
		})
		if !said && c.strict {
			c.window.done(m)
		}
	}
}

func main() {
	f := frame.Parse()
	c := newConsumer(f.Repaired)
	f.Each(func(i int) {
		m := &message{offset: int64(i), kind: i % 2, payload: frame.Touch(make([]byte, f.Unit))} // truth: allocates
		if i == 25 {
			m.kind = 2
		}
		c.window.take(m) // truth: takes
		c.work <- m
	})
	f.Stay()
	close(c.work)
	c.workers.Wait()
	log.Printf("committed to %d", c.window.committed)
}
