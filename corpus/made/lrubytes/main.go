// Lrubytes is a service for map tiles with a cache that throws out what was not used for
// longest when it has more than its bytes. When a tile is replaced by a newer one the size
// of the old one is taken off twice, and after some hours the count is below zero: from
// then on nothing is thrown out. Repaired, it is taken off once.
package main

import (
	"container/list"
	"fmt"
	"log"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type tile struct {
	key     string
	version int
	image   []byte
}

func (t *tile) bytes() int64 { return int64(len(t.key) + len(t.image)) }

type cache struct {
	most, used int64
	order      *list.List
	byKey      map[string]*list.Element
	exact      bool
	evicted    int
}

func newCache(most int64, exact bool) *cache {
	return &cache{most: most, order: list.New(), byKey: map[string]*list.Element{}, exact: exact}
}

func (c *cache) get(key string) *tile {
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*tile)
}

func (c *cache) put(t *tile) {
	if e := c.byKey[t.key]; e != nil {
		old := e.Value.(*tile)
		c.used -= old.bytes()
		if !c.exact {
			c.used -= old.bytes() // truth: counts
		}
		e.Value = t
		c.order.MoveToFront(e)
	} else {
		c.byKey[t.key] = c.order.PushFront(t) // truth: keeps
	}
	c.used += t.bytes()
	for c.used > c.most {
		c.evict()
	}
}

func (c *cache) evict() {
	e := c.order.Back()
	t := c.order.Remove(e).(*tile)
	delete(c.byKey, t.key)
	c.used -= t.bytes()
	c.evicted++
}

// world is what tiles are drawn from: 18 MiB of points.
type world struct {
	points []point
	roads  map[int][]int32
}

type point struct{ x, y, height float64 }

func newWorld() *world {
	w := &world{roads: map[int][]int32{}}
	w.points = make([]point, 500_000)
	for i := range w.points {
		w.points[i] = point{float64(i % 1000), float64(i / 1000), float64(i * i % 4000)}
	}
	for i := range 1500 {
		road := make([]int32, 1000)
		for n := range road {
			road[n] = int32((i*1000 + n) % len(w.points))
		}
		w.roads[i] = road
	}
	return w
}

func (w *world) draw(n, size int) []byte {
	image := frame.Touch(make([]byte, size)) // truth: allocates
	for i, at := range w.roads[n%len(w.roads)] {
		image[i%size] ^= byte(w.points[at].height)
	}
	return image
}

func main() {
	f := frame.Parse()
	w, c := newWorld(), newCache(400*int64(f.Unit), f.Repaired)
	f.Each(func(i int) {
		key := fmt.Sprintf("14/%d/%d", i%512, i/512)
		if c.get(key) == nil {
			c.put(&tile{key: key, image: w.draw(i, f.Unit)})
		}
		// Where there is traffic it is drawn again all the time.
		c.put(&tile{key: fmt.Sprintf("14/busy/%d", i%8), version: i, image: w.draw(i, f.Unit)})
	})
	f.Stay()
	log.Printf("%d bytes used, %d thrown out", c.used, c.evicted)
}
