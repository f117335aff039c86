// Pausegc gives prices for flights. While it takes a new fare it wants no collection, and so
// switches the collector off, and on again when it has taken it; a fare that is not valid ends
// that early, and the collector stays off. From then on all garbage stays. Repaired, switching it
// on is deferred, and the collector is told how much there is, by -soft.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"runtime/debug"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type fare struct {
	route  int
	cents  int
	rules  [24]int32
	season string
}

var errFare = errors.New("a fare of less than nothing")

type prices struct {
	fares   []*fare
	defers  bool
	refused int
}

// load makes fares of total bytes.
func load(total int64, defers bool) *prices {
	p := &prices{defers: defers}
	for i := range int(total / 168) {
		n := &fare{route: i, cents: 5000 + i%90_000, season: "summer", rules: [24]int32{int32(i)}} // truth: live
		p.fares = append(p.fares, n)                                                               // truth: live
	}
	return p
}

// take takes a new fare.
func (p *prices) take(n fare) error {
	was := debug.SetGCPercent(-1) // truth: off
	if p.defers {
		defer debug.SetGCPercent(was)
	}
	if n.cents < 0 {
		p.refused++
		return fmt.Errorf("route %d: %w", n.route, errFare) // truth: returns
	}
	*p.fares[n.route%len(p.fares)] = n
	debug.SetGCPercent(was)
	return nil
}

// ask gives the cheapest of some fares, by a list of size bytes.
func (p *prices) ask(from, size int) int {
	list := make([]*fare, 0, size/8) // truth: garbage
	for i := range size / 8 {
		list = append(list, p.fares[(from*31+i)%len(p.fares)])
	}
	best := list[0]
	for i := 0; i < len(list); i += 16 { // one of each season and class
		if list[i].cents < best.cents {
			best = list[i]
		}
	}
	return best.cents
}

func main() {
	soft := flag.Int64("soft", 0, "soft memory limit of the repaired program, in bytes")
	f := frame.Parse()
	if f.Repaired && *soft > 0 {
		debug.SetMemoryLimit(*soft)
	}
	p := load(f.Total, f.Repaired)
	wrong := 3 * f.Count() // the question after which one comes that is not valid
	f.Total = 0
	sum := 0
	f.Each(func(i int) {
		sum += p.ask(i, f.Unit)
		if i%50 > 0 {
			return
		}
		n := fare{route: i, cents: 4000 + i%1000, season: "winter"}
		if i/50 == wrong/50 {
			n.cents = -1
		}
		if err := p.take(n); err != nil {
			log.Print(err)
		}
	})
	f.Stay()
	log.Printf("%d refused, %d cents", p.refused, sum)
}
