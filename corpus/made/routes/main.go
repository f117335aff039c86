// Routes is a gateway with its routes in an immutable radix tree: a reader takes the tree as it
// is, and a change makes a new one, which has most of its nodes from the one before. All routes
// are there from the start; changes replace them one by one. No fault, and it has no faulty form.
package main

import (
	"fmt"
	"log"
	"sync/atomic"
	"time"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type route struct {
	version int
	rules   []byte
}

type gateway struct {
	tree    atomic.Pointer[iradix.Tree[*route]]
	routes  int
	size    int
	changes int
	passed  int
}

func path(n int) []byte { return fmt.Appendf(nil, "/tenants/%d/services/%d", n%97, n) }

func (g *gateway) newRoute(version int) *route {
	return &route{version, frame.Touch(make([]byte, g.size))}
}

func newGateway(routes, size int) *gateway {
	g := &gateway{routes: routes, size: size}
	first := iradix.New[*route]().Txn()
	for n := range routes {
		first.Insert(path(n), g.newRoute(0))
	}
	g.tree.Store(first.Commit())
	return g
}

// change replaces a route.
func (g *gateway) change(n int) {
	g.changes++
	next, _, _ := g.tree.Load().Insert(path(n), g.newRoute(g.changes))
	g.tree.Store(next)
}

// pass finds the route of a request.
func (g *gateway) pass(n int) error {
	request := append(path(n), "/orders?open=1"...)
	_, r, ok := g.tree.Load().Root().LongestPrefix(request)
	if !ok {
		return fmt.Errorf("no route for %s", request)
	}
	g.passed += int(r.rules[0])
	return nil
}

func main() {
	f := frame.Parse()
	g := newGateway(max(f.Count(), 1), f.Unit)
	log.Print(frame.Done)
	for i := 0; !f.Over(); i++ {
		if i%4 == 0 {
			g.change(i * 7919 % g.routes)
		}
		if err := g.pass(i * 31 % g.routes); err != nil {
			log.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	log.Printf("%d changes, %d passed", g.changes, g.passed)
}
