// Usertags counts the installations of an app by the number that each event has in it,
// and remembers when it was seen. The number is a part of the event's text, which it
// keeps whole. Repaired, numbers are cloned and the oldest go.
package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type counter struct {
	seen   map[string]time.Time
	order  []string
	clone  bool
	byLand map[string]int
	areas  map[string][]int64 // 18 MiB
}

func newCounter(clone bool) *counter {
	c := &counter{seen: map[string]time.Time{}, clone: clone, byLand: map[string]int{}, areas: map[string][]int64{}}
	for i := range 18 << 7 {
		c.areas[fmt.Sprintf("area-%d", i)] = make([]int64, 1<<10)
		for n := range c.areas[fmt.Sprintf("area-%d", i)] {
			c.areas[fmt.Sprintf("area-%d", i)][n] = int64(i * n)
		}
	}
	return c
}

// event takes one as it came from the network.
func (c *counter) event(body []byte) bool {
	text := string(body) // truth: allocates
	if !gjson.Valid(text) {
		return false
	}
	id := gjson.Get(text, "device.installation").String()
	c.byLand[strings.Clone(gjson.Get(text, "device.land").String())]++
	if c.clone {
		id = strings.Clone(id)
		if c.order = append(c.order, id); len(c.order) > 400 {
			delete(c.seen, c.order[0])
			c.order = c.order[1:]
		}
	}
	c.seen[id] = time.Now() // truth: keeps
	return true
}

func main() {
	f := frame.Parse()
	c := newCounter(f.Repaired)
	trace := strings.Repeat("at com.example.app.Main.run(Main.java:114) ", f.Unit/43+1)[:max(f.Unit-160, 100)]
	var body []byte
	refused := 0
	f.Each(func(i int) {
		body = fmt.Appendf(body[:0], `{"device":{"installation":"inst-%016x","land":"%02d"},"kind":"crash","trace":"%s"}`, i*2654435761, i%40, trace)
		if !c.event(body) {
			refused++
		}
		if !c.event(body[:len(body)/8]) { // the connection broke
			refused++
		}
	})
	f.Stay()
}
