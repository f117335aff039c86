// Dedupdays sends each message once: it remembers what it has sent in the last twelve days,
// and when a day is over forgets the oldest of them. It grows for twelve days, and is as large
// from then on. No fault, and it has no faulty form.
package main

import (
	"crypto/sha256"
	"log"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type receipt struct {
	sum  [sha256.Size]byte
	said []byte
}

const remembered = 12

// days has the receipts of each of the last days; the first is today.
type days struct {
	last [remembered]map[[8]byte]*receipt
	most int // of a day
	over int
}

func newDays(most int) *days {
	return &days{last: [remembered]map[[8]byte]*receipt{{}}, most: max(most, 1)}
}

func (d *days) seen(key [8]byte) bool {
	for _, day := range d.last {
		if day[key] != nil {
			return true
		}
	}
	return false
}

func (d *days) add(key [8]byte, r *receipt) {
	if len(d.last[0]) >= d.most {
		copy(d.last[1:], d.last[:remembered-1])
		d.last[0] = make(map[[8]byte]*receipt, d.most)
		d.over++
	}
	d.last[0][key] = r
}

type sender struct {
	days          *days
	sent, skipped int
}

func (s *sender) send(number, size int) {
	sum := sha256.Sum256([]byte{byte(number), byte(number >> 8), byte(number >> 16), byte(number >> 24)})
	key := [8]byte(sum[:8])
	if s.days.seen(key) {
		s.skipped++
		return
	}
	s.days.add(key, &receipt{sum, frame.Touch(make([]byte, size))})
	s.sent++
}

func main() {
	f := frame.Parse()
	s := &sender{days: newDays(f.Count() / remembered)}
	f.Total = 0
	f.Each(func(i int) {
		s.send(i, f.Unit)
		if i%5 == 0 { // asked for twice
			s.send(i-i%3, f.Unit)
		}
	})
	f.Stay()
	log.Printf("%d sent, %d skipped, %d days", s.sent, s.skipped, s.days.over)
}
