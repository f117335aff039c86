// Breakers is a gateway that asks the services behind it and stops asking one that fails,
// by a circuit breaker which keeps the last answer to serve it meanwhile. There should be
// one for each service; it is found by the whole address, with its query, so that each
// question has its own. Repaired, it is found by host and path.
package main

import (
	"errors"
	"fmt"
	"log"
	"net/url"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type state int

const (
	closed state = iota
	halfOpen
	open
)

type breaker struct {
	mu       sync.Mutex
	state    state
	failures int
	retryAt  time.Time
	last     []byte // what the service said when it was well
}

var errOpen = errors.New("circuit is open")

// do calls ask unless the circuit is open.
func (b *breaker) do(ask func() ([]byte, error)) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == open {
		if time.Now().Before(b.retryAt) {
			return b.last, errOpen
		}
		b.state = halfOpen
	}
	body, err := ask()
	if err != nil {
		if b.failures++; b.failures >= 5 || b.state == halfOpen {
			b.state, b.retryAt = open, time.Now().Add(time.Second)
		}
		return b.last, err
	}
	b.state, b.failures, b.last = closed, 0, body
	return body, nil
}

type gateway struct {
	circuits sync.Map // string to *breaker
	byPath   bool
	routes   map[string]*route // 16 MiB
	size     int
	asked    int
}

// route is what the gateway knows of a service.
type route struct {
	policy  [1 << 10]uint64
	allowed []string
}

func newGateway(size int, byPath bool) *gateway {
	g := &gateway{byPath: byPath, routes: map[string]*route{}, size: size}
	for i := range 16 << 7 {
		r := &route{allowed: []string{"GET", "POST"}}
		for n := range r.policy {
			r.policy[n] = uint64(n ^ i)
		}
		g.routes[fmt.Sprintf("/service/%d", i)] = r
	}
	return g
}

func (g *gateway) circuit(u *url.URL) *breaker {
	key := u.String()
	if g.byPath {
		key = u.Host + u.Path
	}
	b, _ := g.circuits.LoadOrStore(key, &breaker{}) // truth: keeps
	return b.(*breaker)
}

func (g *gateway) call(u *url.URL) ([]byte, error) {
	r := g.routes[u.Path]
	if r == nil {
		return nil, fmt.Errorf("no service at %s", u.Path)
	}
	return g.circuit(u).do(func() ([]byte, error) { return g.ask(u, r) })
}

// ask is the call to the service.
func (g *gateway) ask(u *url.URL, r *route) ([]byte, error) {
	if g.asked++; g.asked%97 == 0 {
		return nil, fmt.Errorf("%s: timeout", u.Host)
	}
	body := frame.Touch(make([]byte, g.size)) // truth: allocates
	body[0] = byte(r.policy[g.asked%len(r.policy)])
	return body, nil
}

func main() {
	f := frame.Parse()
	g := newGateway(f.Unit, f.Repaired)
	f.Each(func(i int) {
		u, err := url.Parse(fmt.Sprintf("http://backend-%d.internal/service/%d?user=%d&trace=%x", i%5, i%160, i, i*2654435761))
		if err != nil {
			log.Fatal(err)
		}
		if _, err := g.call(u); err != nil && i < 100 {
			log.Print(err)
		}
	})
	f.Stay()
}
