// Manualgc has switched the collector off, so that no answer waits for it, and calls
// it after so many answers: more than its limit has room for. Repaired, it leaves the
// collector on and tells it how much there is, by -soft.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"runtime"
	"runtime/debug"
	"sort"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type hotel struct {
	Name  string `json:"name"`
	City  string `json:"city"`
	Stars int    `json:"stars"`
	Text  string `json:"text"`
}

type search struct {
	byCity  map[string][]*hotel
	cities  []string
	answers int
	each    int // answers between two collections; 0: the collector is on
}

func main() {
	soft := flag.Int64("soft", 0, "soft memory limit of the repaired program, in bytes")
	f := frame.Parse()
	s := load(f.Total)
	if f.Repaired {
		if *soft > 0 {
			debug.SetMemoryLimit(*soft)
		}
	} else {
		debug.SetGCPercent(-1) // truth: sets
		s.each = int(4 * f.Total / int64(f.Unit))
	}
	f.Total = 0
	f.Each(func(i int) {
		if _, err := s.answer(i, f.Unit); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

// load makes hotels of total bytes in all, at some 1,024 each.
func load(total int64) *search {
	s := &search{byCity: map[string][]*hotel{}}
	for i := range int(total / 1100) {
		city := fmt.Sprintf("city-%d", i%500)
		text := bytes.Repeat([]byte("Rooms with a view of the sea. "), 32)
		s.byCity[city] = append(s.byCity[city], &hotel{fmt.Sprintf("Hotel %d", i), city, i % 5, string(text)}) // truth: live
	}
	for city := range s.byCity {
		s.cities = append(s.cities, city)
	}
	sort.Strings(s.cities)
	runtime.GC()
	return s
}

// answer is a page of hotels, of size bytes in all that it makes.
func (s *search) answer(i, size int) ([]byte, error) {
	var page bytes.Buffer
	page.Grow(size) // truth: garbage
	for _, h := range s.byCity[s.cities[i%len(s.cities)]] {
		if page.Len()+1200 > size {
			break
		}
		if err := json.NewEncoder(&page).Encode(h); err != nil { // truth: garbage
			return nil, err
		}
	}
	if s.answers++; s.each > 0 && s.answers%s.each == 0 {
		runtime.GC() // truth: collects
	}
	return page.Bytes(), nil
}
