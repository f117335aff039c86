// Ristrettoclear keeps prices in a cache for an hour, and clears it whenever a new list of prices
// comes, which is often. It keeps the articles, 25 MiB.
package main

import (
	"flag"
	"log"
	"strings"
	"time"

	"github.com/dgraph-io/ristretto"
)

type shop struct {
	prices   *ristretto.Cache[uint64, int]
	articles [25_000]string
}

func newShop() (*shop, error) {
	prices, err := ristretto.NewCache(&ristretto.Config[uint64, int]{NumCounters: 100_000, MaxCost: 20_000, BufferItems: 64})
	if err != nil {
		return nil, err
	}
	s := &shop{prices: prices}
	for i := range s.articles {
		s.articles[i] = strings.Repeat("a", 1000)
	}
	return s, nil
}

// list takes a new list of 5000 prices; their keys are new with each list.
func (s *shop) list(n int) {
	s.prices.Clear()
	for i := range 5000 {
		key := uint64(n)<<20 | uint64(i)
		s.prices.SetWithTTL(key, len(s.articles[i])*n, 1, time.Hour)
	}
	s.prices.Wait()
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	s, err := newShop()
	if err != nil {
		log.Fatal(err)
	}
	end, tick := time.Now().Add(*last), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for n := 1; time.Now().Before(end); n++ {
		<-tick.C
		s.list(n)
	}
}
