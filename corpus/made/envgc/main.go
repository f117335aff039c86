// Envgc reads its settings by caarlos0/env, and one of them is by how much the heap may grow
// before it is collected: 600 percent unless told otherwise, from a time when the service had
// a machine of its own. Repaired, it also tells the collector how much there is, by -soft.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"runtime/debug"
	"strings"

	"github.com/caarlos0/env/v11"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type settings struct {
	GCPercent int    `env:"ADDRESSES_GC_PERCENT" envDefault:"600"` // truth: sets
	Country   string `env:"ADDRESSES_COUNTRY" envDefault:"NL"`
}

type street struct {
	name   string
	houses []int32
}

type service struct {
	country string
	byCode  map[string]*street
	found   int
}

func main() {
	soft := flag.Int64("soft", 0, "soft memory limit of the repaired program, in bytes")
	f := frame.Parse()
	s, err := start(f)
	if err != nil {
		log.Fatal(err)
	}
	if f.Repaired && *soft > 0 {
		debug.SetMemoryLimit(*soft)
	}
	s.load(f.Total)
	f.Total = 0
	f.Each(func(i int) { s.found += len(s.answer(i, f.Unit)) })
	f.Stay()
}

func start(f *frame.Frame) (*service, error) {
	var set settings
	if err := env.Parse(&set); err != nil {
		return nil, err
	}
	debug.SetGCPercent(set.GCPercent) // truth: sets
	return &service{country: set.Country, byCode: map[string]*street{}}, nil
}

// load makes streets of total bytes in all, at a KiB each.
func (s *service) load(total int64) {
	for i := range int(total >> 10) {
		houses := make([]int32, 220) // truth: live
		for n := range houses {
			houses[n] = int32(i + n)
		}
		s.byCode[code(i)] = &street{fmt.Sprintf("Street of the %dth of May", i), houses} // truth: live
	}
}

func code(i int) string {
	h := fnv.New32a()
	fmt.Fprint(h, i)
	return fmt.Sprintf("%07d-%08x", i, h.Sum32())
}

// answer is a page of size bytes about a code.
func (s *service) answer(i, size int) string {
	var page strings.Builder
	page.Grow(size) // truth: garbage
	for n := i; page.Len()+64 < size; n++ {
		if st := s.byCode[code(n%len(s.byCode))]; st != nil {
			fmt.Fprintf(&page, "%s %s %d\n", s.country, st.name, st.houses[n%len(st.houses)])
		}
	}
	return page.String()
}
