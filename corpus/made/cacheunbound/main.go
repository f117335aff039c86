// Cacheunbound caches answers under a key that holds the time of the question, so
// that none is ever found again and none is dropped. Repaired, the cache has a
// bound.
package main

import (
	"fmt"
	"sync"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type cache struct {
	mu      sync.Mutex
	entries map[string][]byte
	order   []string
	most    int // entries; 0: no bound
}

func main() {
	f := frame.Parse()
	c := &cache{entries: map[string][]byte{}}
	if f.Repaired {
		c.most = 400
	}
	f.Each(func(i int) { c.lookup(fmt.Sprintf("rate?at=%d", i), f.Unit) })
	f.Stay()
}

func (c *cache) lookup(question string, size int) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer, ok := c.entries[question]; ok {
		return answer
	}
	answer := ask(question, size)
	c.entries[question] = answer // truth: keeps
	if c.most > 0 {
		c.drop(question)
	}
	return answer
}

func (c *cache) drop(newest string) {
	c.order = append(c.order, newest)
	if len(c.order) > c.most {
		delete(c.entries, c.order[0])
		c.order = c.order[1:]
	}
}

func ask(question string, size int) []byte {
	answer := frame.Touch(make([]byte, size)) // truth: allocates
	copy(answer, question)
	return answer
}
