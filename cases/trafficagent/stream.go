package main

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/google/gopacket"
	"github.com/google/gopacket/tcpassembly"

	"github.com/highwater-go/highwater/cases/trafficagent/ir"
)

// conversations makes a reader of HTTP for each direction of each connection,
// and brings requests and responses together.
type conversations struct {
	bodies   *bodies
	emit     func(*ir.Witness) // from many goroutines
	running  sync.WaitGroup
	mu       sync.Mutex
	open     map[connection]*conversation
	segments losses
}

// losses counts what could not be read.
type losses struct {
	Gaps, GivenUp int // streams with a gap; streams that were no HTTP any more
}

// connection is a TCP connection, whichever way a segment goes.
type connection struct{ network, transport uint64 }

// conversation is the halves of exchanges of a connection that wait for their
// other halves. The nth response answers the nth request.
type conversation struct {
	requests, responses int // read so far
	waiting             map[int]*ir.Witness
	directions          int // not ended
}

// The most exchanges of one connection that wait; older ones are forgotten.
const mostWaiting = 16

func newConversations(b *bodies, emit func(*ir.Witness)) *conversations {
	return &conversations{bodies: b, emit: emit, open: map[connection]*conversation{}}
}

// New implements tcpassembly.StreamFactory.
func (c *conversations) New(network, transport gopacket.Flow) tcpassembly.Stream {
	key := connection{network.FastHash(), transport.FastHash()} // the same for both directions
	r, w := io.Pipe()
	s := &stream{to: w, of: c}
	c.mu.Lock()
	if c.open[key] == nil {
		c.open[key] = &conversation{waiting: map[int]*ir.Witness{}}
	}
	c.open[key].directions++
	c.mu.Unlock()
	c.running.Go(func() {
		defer c.end(key)
		// What follows an error can't be told apart from what was before.
		err := c.read(key, bufio.NewReader(r))
		r.CloseWithError(err)
		if err != nil && !errors.Is(err, errGap) {
			c.count(func(l *losses) { l.GivenUp++ })
		}
	})
	return s
}

// wait returns when all that was captured is read. The assembler must have
// been flushed.
func (c *conversations) wait() losses {
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.segments
}

func (c *conversations) count(add func(*losses)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	add(&c.segments)
}

// read reads messages until the stream ends: requests or responses, as it begins.
func (c *conversations) read(key connection, from *bufio.Reader) error {
	start, err := from.Peek(5)
	if err != nil {
		return ended(err)
	}
	next := c.request
	if string(start) == "HTTP/" {
		next = c.response
	}
	for {
		if _, err := from.Peek(1); err != nil {
			return ended(err)
		}
		if err := next(key, from); err != nil {
			return err
		}
	}
}

// ended is nil where a stream may end: between messages.
func ended(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func (c *conversations) request(key connection, from *bufio.Reader) error {
	r, err := http.ReadRequest(from)
	if err != nil {
		return err
	}
	body, err := c.bodies.read(r.Header, r.Body)
	if err != nil {
		return err
	}
	c.join(key, func(v *conversation) int { v.requests++; return v.requests }, func(w *ir.Witness) {
		w.Method, w.Host, w.Path, w.Request = r.Method, r.Host, r.URL.Path, body
	})
	return nil
}

func (c *conversations) response(key connection, from *bufio.Reader) error {
	r, err := http.ReadResponse(from, nil)
	if err != nil {
		return err
	}
	body, err := c.bodies.read(r.Header, r.Body)
	if err != nil {
		return err
	}
	if r.StatusCode < 200 { // "100 Continue": the response is yet to come
		return nil
	}
	c.join(key, func(v *conversation) int { v.responses++; return v.responses }, func(w *ir.Witness) {
		w.Status, w.Response = int32(r.StatusCode), body
	})
	return nil
}

// join adds a half to its exchange, and emits it if that makes it whole.
func (c *conversations) join(key connection, number func(*conversation) int, add func(*ir.Witness)) {
	c.mu.Lock()
	v := c.open[key]
	n := number(v)
	w, whole := v.waiting[n]
	if !whole {
		w = new(ir.Witness)
		v.waiting[n] = w
		delete(v.waiting, n-mostWaiting)
	} else {
		delete(v.waiting, n)
	}
	add(w)
	c.mu.Unlock()
	if whole {
		c.emit(w)
	}
}

// end forgets a connection when both its directions have ended.
func (c *conversations) end(key connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.open[key]
	if v.directions--; v.directions == 0 {
		delete(c.open, key)
	}
}

// stream is one direction of a connection, on its way to a reader of HTTP.
type stream struct {
	to    *io.PipeWriter
	of    *conversations
	begun bool
	lost  bool
}

var errGap = errors.New("bytes of the stream were not captured")

// Reassembled implements tcpassembly.Stream. It waits until the reader has taken
// the bytes, which are the assembler's.
func (s *stream) Reassembled(parts []tcpassembly.Reassembly) {
	for _, part := range parts {
		// Skip is -1 where the stream was begun before the capture.
		if part.Skip != 0 && s.begun && !s.lost {
			s.lost = true
			s.of.count(func(l *losses) { l.Gaps++ })
			s.to.CloseWithError(errGap)
		}
		s.begun = true
		if !s.lost {
			s.to.Write(part.Bytes) // fails when the reader has given up: then nobody wants them
		}
	}
}

// ReassemblyComplete implements tcpassembly.Stream.
func (s *stream) ReassemblyComplete() { s.to.Close() }
