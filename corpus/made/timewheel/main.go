// Timewheel gives each call of a proxy an hour by a wheel of slots. A call that is
// answered is marked, and its place in the wheel is free when the wheel comes to its
// end: an hour later. Repaired, the mark drops the call, and each turn drops what is marked.
package main

import (
	"slices"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type deadline struct {
	turns    int
	over     bool
	onExpiry func()
}

type wheel struct {
	mu    sync.Mutex
	slots [256][]*deadline
	hand  int
	tidy  bool
}

func (w *wheel) after(d time.Duration, do func()) *deadline {
	w.mu.Lock()
	defer w.mu.Unlock()
	ticks := int(d / tick)
	e := &deadline{turns: ticks / len(w.slots), onExpiry: do}
	at := (w.hand + ticks) % len(w.slots)
	w.slots[at] = append(w.slots[at], e) // truth: keeps
	return e
}

const tick = 2 * time.Millisecond

// turn moves the hand by one slot.
func (w *wheel) turn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hand = (w.hand + 1) % len(w.slots)
	w.slots[w.hand] = slices.DeleteFunc(w.slots[w.hand], func(e *deadline) bool {
		if e.over && w.tidy {
			return true
		}
		if e.turns--; e.turns >= 0 {
			return false
		}
		if !e.over {
			e.onExpiry()
		}
		return true
	})
}

func (w *wheel) cancel(e *deadline) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.over = true
	if w.tidy {
		e.onExpiry = nil
	}
}

type call struct {
	header map[string]string
	body   []byte
}

type proxy struct {
	wheel   wheel
	expired int
	hosts   [][]byte // 16 MiB
}

func (p *proxy) forward(i, size int) byte {
	c := &call{header: map[string]string{"x-request": "one"}, body: frame.Touch(make([]byte, size))} // truth: allocates
	limit := p.wheel.after(time.Hour+time.Duration(i%200)*tick, func() {                             // truth: captures
		p.expired += len(c.body)
	})
	defer p.wheel.cancel(limit)
	return p.hosts[i%len(p.hosts)][0] ^ c.body[0]
}

func main() {
	f := frame.Parse()
	p := &proxy{wheel: wheel{tidy: f.Repaired}}
	for range 16 << 6 {
		p.hosts = append(p.hosts, frame.Touch(make([]byte, 16<<10)))
	}
	go func() {
		for range time.Tick(tick) {
			p.wheel.turn()
		}
	}()
	sum := 0
	f.Each(func(i int) { sum += int(p.forward(i, f.Unit)) })
	f.Stay()
}
