// Fastcachefull serves thumbnails and keeps them in a cache of VictoriaMetrics/fastcache, which
// maps its memory itself, outside of Go's heap, up to a bound. It grows until that is reached,
// and then the newest takes the place of the oldest. No fault, and it has no faulty form.
package main

import (
	"encoding/binary"
	"fmt"
	"log"

	"github.com/VictoriaMetrics/fastcache"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type gallery struct {
	cache   *fastcache.Cache
	size    int
	answer  []byte // is used for each answer
	picture []byte
	hits    int
}

// draw makes a thumbnail.
func (g *gallery) draw(number int) []byte {
	for i := 0; i+8 <= len(g.picture); i += 64 {
		binary.LittleEndian.PutUint64(g.picture[i:], uint64(number*31+i))
	}
	return g.picture
}

func (g *gallery) thumbnail(number int) []byte {
	key := fmt.Appendf(nil, "thumb/%d", number)
	g.answer = g.cache.Get(g.answer[:0], key)
	if len(g.answer) > 0 {
		g.hits++
		return g.answer
	}
	drawn := g.draw(number)
	g.cache.Set(key, drawn)
	return drawn
}

func main() {
	f := frame.Parse()
	g := &gallery{cache: fastcache.New(int(f.Total)), size: f.Unit, picture: frame.Touch(make([]byte, f.Unit))}
	f.Total = 0 // who looks at them goes on
	bytes := 0
	f.Each(func(i int) {
		number := i
		if i%8 == 7 { // what was looked at a moment ago
			number = i - 5
		}
		bytes += len(g.thumbnail(number))
	})
	f.Stay()
	log.Printf("%d bytes sent, %d were there", bytes, g.hits)
}
