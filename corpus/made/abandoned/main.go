// Abandoned keeps the reservations of a ticket shop until they are paid or ten minutes, here
// a third of a second, are over: a sweep releases what is old. It leaves out what is being
// paid, so that nobody loses a seat while his bank thinks. Customers who go away at the
// bank's page stay in that state. Repaired, the sweep releases these, too.
package main

import (
	"log"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type status int

const (
	held status = iota
	paying
	paid
)

type reservation struct {
	id     int
	seats  []int
	status status
	until  time.Time
	page   []byte // what the customer saw, for the receipt
}

// desk is the shop's table of reservations.
type desk struct {
	mu           sync.Mutex
	reservations map[int]*reservation
	sweepAll     bool
	released     int
}

func (d *desk) reserve(id int, seats []int, size int) *reservation {
	r := &reservation{id: id, seats: seats, until: time.Now().Add(300 * time.Millisecond)}
	r.page = frame.Touch(make([]byte, size)) // truth: allocates
	d.mu.Lock()
	d.reservations[id] = r // truth: keeps
	d.mu.Unlock()
	return r
}

// toBank sends a customer to the page of his bank.
func (d *desk) toBank(r *reservation) {
	d.mu.Lock()
	r.status = paying
	d.mu.Unlock()
}

// confirm is called by the bank.
func (d *desk) confirm(r *reservation) {
	d.mu.Lock()
	r.status = paid
	delete(d.reservations, r.id)
	d.mu.Unlock()
}

func (d *desk) sweep(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, r := range d.reservations {
		if r.until.After(now) || r.status == paying && !d.sweepAll { // truth: skips
			continue
		}
		delete(d.reservations, id)
		d.released++
	}
}

// hall is where the seats are: 14 MiB of them for a season.
type hall struct {
	evening []map[int]string
}

func newHall() *hall {
	h := &hall{}
	for range 280 {
		seats := make(map[int]string, 1000)
		for s := range 1000 {
			seats[s] = "row and number"
		}
		h.evening = append(h.evening, seats)
	}
	return h
}

func main() {
	f := frame.Parse()
	d, h := &desk{reservations: map[int]*reservation{}, sweepAll: f.Repaired}, newHall()
	go func() {
		for now := range time.Tick(100 * time.Millisecond) {
			d.sweep(now)
		}
	}()
	f.Each(func(i int) {
		evening := h.evening[i%len(h.evening)]
		r := d.reserve(i, []int{i % len(evening), (i + 1) % len(evening)}, f.Unit)
		if i%8 == 0 { // looks, and goes
			return
		}
		d.toBank(r)
		if i%16 == 1 {
			d.confirm(r)
		}
	})
	f.Stay()
	log.Printf("%d released", d.released)
}
