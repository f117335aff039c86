// Offheap sums measurements by key. So that the collector has nothing to do with it, the table
// of a question is taken from an allocator of modernc.org/memory, which maps its pages from the
// kernel; with the last line of the answer it is closed. A question that finds too many keys
// returns before that. Repaired, the close is deferred.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"

	"modernc.org/memory"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var errTooMany = errors.New("too many keys")

// store has 16 MiB of measurements.
type store struct {
	keys    []uint64
	values  []float64
	closes  bool
	refused int
}

func newStore(closes bool) *store {
	const all = 1 << 20
	s := &store{keys: make([]uint64, 0, all), values: make([]float64, 0, all), closes: closes}
	for i := range all {
		s.keys = append(s.keys, uint64(i*2654435761)>>7)
		s.values = append(s.values, float64(i%1000))
	}
	return s
}

// sum sums n measurements from one on, in a table of size bytes, and gives the number of keys.
func (s *store) sum(from, n, size, most int) (int, error) {
	var pages memory.Allocator
	if s.closes {
		defer pages.Close()
	}
	table, err := pages.Malloc(size) // truth: maps
	if err != nil {
		return 0, err
	}
	clear(table)
	slots, found := size/16, 0
	for i := range n {
		key := s.keys[(from+i)%len(s.keys)] | 1
		at := int(key%uint64(slots)) * 16
		for binary.LittleEndian.Uint64(table[at:]) != key {
			if binary.LittleEndian.Uint64(table[at:]) == 0 {
				binary.LittleEndian.PutUint64(table[at:], key)
				if found++; found > most {
					return 0, fmt.Errorf("%w: more than %d", errTooMany, most) // truth: returns
				}
				break
			}
			at = (at + 16) % (slots * 16)
		}
		sum := binary.LittleEndian.Uint64(table[at+8:]) + uint64(s.values[(from+i)%len(s.values)])
		binary.LittleEndian.PutUint64(table[at+8:], sum)
	}
	if s.closes {
		return found, nil
	}
	return found, pages.Close()
}

func main() {
	f := frame.Parse()
	s := newStore(f.Repaired)
	answered := 0
	f.Each(func(i int) {
		if _, err := s.sum(i*997, 1000, f.Unit, 500); errors.Is(err, errTooMany) {
			s.refused++
		}
		if i%5 > 0 {
			return
		}
		if _, err := s.sum(i*997, 400, f.Unit, 500); err != nil {
			log.Fatal(err)
		}
		answered++
	})
	f.Stay()
	log.Printf("%d refused, %d answered", s.refused, answered)
}
