// Backoffevents delivers events to the addresses of customers, each in a goroutine that
// tries again by cenkalti/backoff, without an end. An address that is gone answers so for
// ever, and is tried again all the same. Repaired, that is a permanent error.
package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"log"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var errGone = errors.New("410 gone")

type event struct {
	customer int
	body     []byte
}

type sender struct {
	customers [][]byte // 16 MiB: how to sign for each
	repaired  bool
	delivered atomic.Int64
	refused   atomic.Int64
	sum       atomic.Uint32
}

func main() {
	f := frame.Parse()
	s := &sender{repaired: f.Repaired}
	for range 16 << 20 / (8 << 10) {
		s.customers = append(s.customers, frame.Touch(make([]byte, 8<<10)))
	}
	small := min(f.Unit, 4<<10)
	f.Each(func(i int) {
		for n := range 3 {
			s.take(8*i+1+n, small)
		}
		s.take(8*i, f.Unit)
	})
	if !f.Repaired {
		log.Printf("%d delivered, %d refused", s.delivered.Load(), s.refused.Load())
	}
	f.Stay()
}

func (s *sender) take(customer, size int) {
	e := &event{customer: customer % len(s.customers), body: make([]byte, size)} // truth: allocates
	frame.Touch(e.body)
	go s.deliver(e) // truth: starts
}

func (s *sender) deliver(e *event) {
	waits := backoff.NewExponentialBackOff(backoff.WithMaxElapsedTime(0), backoff.WithMaxInterval(5*time.Minute), backoff.WithInitialInterval(2*time.Second))
	err := backoff.Retry(func() error { return s.post(e) }, waits) // truth: waits
	if err != nil && !errors.Is(err, errGone) {
		log.Print(err)
	}
}

// post sends an event. The address of each eighth customer is gone.
func (s *sender) post(e *event) error {
	s.sum.Store(crc32.ChecksumIEEE(e.body) ^ crc32.ChecksumIEEE(s.customers[e.customer]))
	if e.customer%8 != 0 {
		s.delivered.Add(1)
		return nil
	}
	s.refused.Add(1)
	err := fmt.Errorf("customer %d: %w", e.customer, errGone)
	if s.repaired {
		return backoff.Permanent(err)
	}
	return err
}
