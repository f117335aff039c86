// Package pool lends a fixed number of connections.
package pool

import "sync"

// Conn is a connection to the database.
type Conn struct {
	Number int
	Buffer []byte
}

// Pool has the connections that nobody has borrowed.
type Pool struct {
	mu   sync.Mutex
	came *sync.Cond
	free []*Conn
}

// New opens n connections.
func New(n int) *Pool {
	p := &Pool{}
	p.came = sync.NewCond(&p.mu)
	for i := range n {
		p.free = append(p.free, &Conn{Number: i, Buffer: make([]byte, 64<<10)})
	}
	return p
}

// Get borrows a connection, and waits until there is one.
func (p *Pool) Get() *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) == 0 {
		p.came.Wait() // truth: waits
	}
	c := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return c
}

// Put gives a connection back.
func (p *Pool) Put(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, c)
	p.came.Signal()
}
