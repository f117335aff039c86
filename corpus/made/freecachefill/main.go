// Freecachefill caches weather by place in a cache of coocood/freecache, which takes
// its whole room at the start and writes to it by and by: Go's heap is as large at once,
// what is resident grows until the room is used. No fault, and it has no faulty form.
package main

import (
	"encoding/binary"
	"errors"
	"log"
	"runtime/debug"

	"github.com/coocood/freecache"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type forecast struct {
	place  uint64
	hours  []byte
	missed int
	found  int
}

type station struct {
	cache *freecache.Cache
	page  forecast // is used again for each place
}

func main() {
	f := frame.Parse()
	s := &station{cache: freecache.NewCache(int(f.Total))} // truth: allocates
	debug.SetGCPercent(30)                                 // as its authors advise
	s.page.hours = make([]byte, f.Unit)
	f.Total = 0 // questions go on
	f.Each(func(i int) {
		place := uint64(i)
		if i%5 == 4 { // as a moment ago
			place = uint64(i - 3)
		}
		if err := s.ask(place); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func (s *station) ask(place uint64) error {
	var key [8]byte
	binary.BigEndian.PutUint64(key[:], place)
	err := s.cache.GetFn(key[:], func(hours []byte) error {
		copy(s.page.hours, hours)
		return nil
	})
	if err == nil {
		s.page.found++
		return nil
	}
	if !errors.Is(err, freecache.ErrNotFound) {
		return err
	}
	s.page.missed++
	s.page.compute(place)
	return s.cache.Set(key[:], s.page.hours, 3600)
}

func (f *forecast) compute(place uint64) {
	f.place = place
	for i := range f.hours {
		f.hours[i] = byte(uint64(i)*2654435761 + place)
	}
}
