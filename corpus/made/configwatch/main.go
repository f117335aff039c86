// Configwatch is a gateway whose connections follow the settings while they are open.
// One whose protocol is not known is refused before the line that would take it off the
// list of followers. Repaired, that is deferred.
package main

import (
	"errors"
	"sync"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// signal tells all who are connected to it of a new value.
type signal[T any] struct {
	mu    sync.Mutex
	next  int
	slots map[int]func(T)
	last  T
}

func (s *signal[T]) connect(tell func(T)) (disconnect func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slots == nil {
		s.slots = map[int]func(T){}
	}
	s.next++
	id := s.next
	s.slots[id] = tell // truth: keeps
	tell(s.last)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.slots, id)
	}
}

func (s *signal[T]) emit(v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = v
	for _, tell := range s.slots {
		tell(v)
	}
}

type settings struct{ maxFrame, version int }

type conn struct {
	protocol string
	current  settings
	in       []byte
}

func (c *conn) apply(s settings) { c.current = s }

type gateway struct {
	settings signal[settings]
	tidy     bool
	routes   [][]byte // 24 MiB
}

var errProtocol = errors.New("protocol not known")

func (g *gateway) serve(protocol string, size int) error {
	c := &conn{protocol: protocol, in: frame.Touch(make([]byte, size))} // truth: allocates
	stop := g.settings.connect(c.apply)                                 // truth: connects
	if g.tidy {
		defer stop()
	}
	if c.protocol != "v2" {
		return errProtocol
	}
	c.in[0] = g.routes[len(c.in)%len(g.routes)][0]
	stop()
	return nil
}

func main() {
	f := frame.Parse()
	g := &gateway{tidy: f.Repaired}
	for range 24 << 5 {
		g.routes = append(g.routes, frame.Touch(make([]byte, 32<<10)))
	}
	refused := 0
	f.Each(func(i int) {
		if g.serve("v1", f.Unit) != nil {
			refused++
		}
		g.serve("v2", f.Unit)
		if i%2000 == 1999 {
			g.settings.emit(settings{maxFrame: i, version: 2})
		}
	})
	f.Stay()
}
