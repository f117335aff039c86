// Ttlfill caches prices for a time, in a cache of patrickmn/go-cache that deletes
// what is over. It grows for one such time, and then as much goes as comes: no
// fault. It has no faulty form.
package main

import (
	"strconv"
	"time"

	"github.com/patrickmn/go-cache"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type price struct {
	cents   int
	details []byte
}

func main() {
	f := frame.Parse()
	lasts := 2 * time.Second
	if f.Rate > 0 { // Total is there at a time
		lasts = time.Duration(float64(f.Total) / float64(f.Rate) * float64(time.Second))
	}
	f.Total = 0
	prices := cache.New(lasts, lasts/20)
	f.Each(func(i int) { lookup(prices, i, f.Unit) })
	f.Stay()
}

func lookup(prices *cache.Cache, article, size int) *price {
	key := "article-" + strconv.Itoa(article)
	if p, ok := prices.Get(key); ok {
		return p.(*price)
	}
	p := &price{article % 10_000, frame.Touch(make([]byte, size))} // truth: allocates
	prices.SetDefault(key, p)
	return p
}
