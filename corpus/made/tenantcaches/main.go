// Tenantcaches imports the price lists of suppliers. Each import looks things up many times, and
// has a cache of jellydator/ttlcache for it; the goroutine that throws out what is old in it is
// started, as the module's description says, and is not stopped when the import is done. It
// keeps the cache. Repaired, it is stopped.
package main

import (
	"fmt"
	"log"
	"time"

	"github.com/jellydator/ttlcache/v3"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type article struct {
	text  []byte
	price int
}

// catalogue is what is looked up: 16 MiB.
type catalogue struct {
	names  []string
	prices [][24]int32
}

func newCatalogue() *catalogue {
	const articles = 130_000
	c := &catalogue{make([]string, 0, articles), make([][24]int32, 0, articles)}
	for i := range articles {
		c.names = append(c.names, fmt.Sprintf("article %06d", i))
		c.prices = append(c.prices, [24]int32{int32(i)})
	}
	return c
}

const each = 1 << 10

func (c *catalogue) find(number int) *article {
	text := frame.Touch(make([]byte, each)) // truth: allocates
	copy(text, c.names[number%len(c.names)])
	return &article{text, int(c.prices[number%len(c.prices)][number%24])}
}

type importer struct {
	catalogue *catalogue
	stops     bool
	changed   int
}

// run imports the list of a supplier, of some articles that come again and again.
func (in *importer) run(supplier, articles int) {
	known := ttlcache.New(ttlcache.WithTTL[int, *article](30 * time.Minute))
	go known.Start() // truth: starts
	if in.stops {
		defer known.Stop()
	}
	for line := range 3 * articles {
		number := supplier*7919 + line%articles
		found := known.Get(number)
		if found == nil {
			found = known.Set(number, in.catalogue.find(number), ttlcache.DefaultTTL) // truth: fills
		}
		if found.Value().price != line {
			in.changed++
		}
	}
}

func main() {
	f := frame.Parse()
	in := &importer{catalogue: newCatalogue(), stops: f.Repaired}
	f.Each(func(i int) { in.run(i, max(f.Unit/each, 1)) })
	f.Stay()
	log.Printf("%d changed", in.changed)
}
