// Dashboard answers a page of a monitoring system: each of its panels is a question to the
// store of measurements. It asks all of them at once, a goroutine for each, and draws when the
// last answer is there; for a page of hundreds of panels all the answers are in memory
// together. Somebody opens such a page every two seconds. Repaired, eight are asked at a time,
// and what is drawn is dropped.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const perPanel = 240 << 10 // bytes of an answer: 30000 values

// store has 20 MiB of measurements.
type store struct {
	series map[string][]float64
}

func newStore() *store {
	s := &store{series: map[string][]float64{}}
	for i := range 20 << 4 {
		values := make([]float64, 8<<10)
		for n := range values {
			values[n] = math.Sin(float64(n + i))
		}
		s.series[fmt.Sprintf("node_%d_load", i)] = values
	}
	return s
}

// query gives the values of a series as the store sends them, after a moment.
func (s *store) query(name string) []byte {
	values := s.series[name]
	body := make([]byte, 0, perPanel) // truth: allocates
	for n := range perPanel / 8 {
		body = binary.LittleEndian.AppendUint64(body, math.Float64bits(values[n%len(values)]))
	}
	time.Sleep(150 * time.Millisecond)
	return body
}

// panel is what is drawn.
type panel struct {
	name     string
	answer   []byte
	low, top float64
}

func (p *panel) draw() {
	for at := 0; at < len(p.answer); at += 8 {
		v := math.Float64frombits(binary.LittleEndian.Uint64(p.answer[at:]))
		p.low, p.top = min(p.low, v), max(p.top, v)
	}
	p.answer = nil
}

type page struct {
	store  *store
	panels []*panel
}

func (g *page) open(atOnce int) (top float64) {
	room := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, p := range g.panels {
		room <- struct{}{}
		all.Add(1)
		go func() { // truth: starts
			defer all.Done()
			p.answer = g.store.query(p.name) // truth: asks
			if atOnce < len(g.panels) {
				p.draw()
			}
			<-room
		}()
	}
	all.Wait()
	for _, p := range g.panels {
		p.draw()
		top = max(top, p.top)
	}
	return top
}

// pause waits, and is false where the program is to end.
func pause(f *frame.Frame, long time.Duration) bool {
	for end := time.Now().Add(long); time.Now().Before(end) && !f.Over(); {
		time.Sleep(20 * time.Millisecond)
	}
	return !f.Over()
}

func main() {
	f := frame.Parse()
	s := newStore()
	top := 0.0
	for long := 4 * time.Second; pause(f, long); long = 2 * time.Second {
		g := &page{store: s}
		for i := range int(f.Total/perPanel) + 8 {
			g.panels = append(g.panels, &panel{name: fmt.Sprintf("node_%d_load", i%len(s.series))})
		}
		atOnce := len(g.panels)
		if f.Repaired {
			atOnce = 8
		}
		top = max(top, g.open(atOnce))
	}
	f.Stay()
	log.Print(top)
}
