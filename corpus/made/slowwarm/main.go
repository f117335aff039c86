// Slowwarm has an LRU cache of articles with a bound. A few articles are asked for
// often and most seldom, so that it fills ever more slowly, and then each new one
// drops the oldest: no fault. It has no faulty form.
package main

import (
	"log"
	"math/rand"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type article struct {
	number uint64
	text   []byte
}

type shelf struct {
	articles *lru.Cache[uint64, *article]
	read     int
}

func main() {
	f := frame.Parse()
	most := max(1, f.Count())
	articles, err := lru.New[uint64, *article](most)
	if err != nil {
		log.Fatal(err)
	}
	s := &shelf{articles: articles}
	numbers := rand.NewZipf(rand.New(rand.NewSource(1)), 1.02, 8, uint64(20*most))
	f.Total = 0 // the readers go on
	f.Each(func(int) { s.read += len(s.open(numbers.Uint64(), f.Unit).text) })
	f.Stay()
}

func (s *shelf) open(number uint64, size int) *article {
	if a, ok := s.articles.Get(number); ok {
		return a
	}
	a := &article{number, frame.Touch(make([]byte, size))} // truth: allocates
	s.articles.Add(number, a)
	return a
}
