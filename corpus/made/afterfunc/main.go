// Afterfunc is a server whose shutdown is to cancel every transfer: each transfer
// asks the server's context to call it when that ends, and takes this back never,
// also not when it is finished. Repaired, it does when it is finished.
package main

import (
	"context"
	"sync/atomic"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type transfer struct {
	id       int
	chunk    []byte
	canceled atomic.Bool
}

type server struct {
	base     context.Context
	repaired bool
	sent     int64
}

func main() {
	f := frame.Parse()
	base, shutdown := context.WithCancel(context.Background())
	defer shutdown()
	s := &server{base: base, repaired: f.Repaired}
	f.Each(func(i int) { s.serve(newTransfer(i, f.Unit)) })
	f.Stay()
}

func newTransfer(id, size int) *transfer {
	return &transfer{id: id, chunk: frame.Touch(make([]byte, size))} // truth: allocates
}

func (s *server) serve(t *transfer) {
	stop := context.AfterFunc(s.base, t.cancel) // truth: keeps
	if s.repaired {
		defer stop()
	}
	for _, b := range t.chunk {
		s.sent += int64(b & 1)
	}
}

func (t *transfer) cancel() { t.canceled.Store(true) }
