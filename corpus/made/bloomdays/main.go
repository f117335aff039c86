// Bloomdays knows which visitors came in the last four days, by a filter of
// bits-and-blooms/bloom for each day. When a day is over, here every three seconds, the oldest
// filter goes and a new one comes. No fault, and it has no faulty form.
package main

import (
	"encoding/binary"
	"time"

	"github.com/bits-and-blooms/bloom/v3"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const days = 4

type visitors struct {
	filters [days]*bloom.BloomFilter
	today   int
	again   int
	first   int
}

func main() {
	f := frame.Parse()
	v := &visitors{}
	for n := range v.filters {
		v.filters[n] = newFilter(f.Total / days)
	}
	for i := range uint64(400_000) { // of the days before
		v.today = int(i % days)
		v.visit(i * 2654435761 % 5_000_000)
	}
	over := time.Now().Add(3 * time.Second)
	for i := uint64(0); !f.Over(); i++ {
		for n := range uint64(200) {
			v.visit((i*200 + n) * 2654435761 % 5_000_000)
		}
		if time.Now().After(over) {
			v.today = (v.today + 1) % days
			v.filters[v.today] = newFilter(f.Total / days)
			over = over.Add(3 * time.Second)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// newFilter has size bytes.
func newFilter(size int64) *bloom.BloomFilter {
	return bloom.New(uint(size)*8, 5) // truth: allocates
}

func (v *visitors) visit(number uint64) {
	var who [8]byte
	binary.LittleEndian.PutUint64(who[:], number)
	for n, f := range v.filters {
		if n != v.today && f.Test(who[:]) {
			v.again++
			break
		}
	}
	if !v.filters[v.today].TestOrAdd(who[:]) {
		v.first++
	}
}
