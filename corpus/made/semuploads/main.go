// Semuploads ships parts of a log to a store. Four are sent at a time, by a semaphore
// that each part's goroutine waits for, with the part in its hands; parts come twice as
// fast as they are sent while the machines are busy, and then none for a while.
// Repaired, who cuts the parts waits for the semaphore.
package main

import (
	"bytes"
	"context"
	"hash/crc32"
	"log"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const atOnce = 4

type shipper struct {
	slots    *semaphore.Weighted
	each     time.Duration // for one part to be sent
	lines    [][]byte      // 12 MiB: the lines that machines write
	repaired bool
	sent     atomic.Int64
	sum      atomic.Uint32
}

func main() {
	f := frame.Parse()
	s := &shipper{slots: semaphore.NewWeighted(atOnce), repaired: f.Repaired}
	s.each = time.Duration(2 * atOnce * float64(f.Unit) / float64(max(1, f.Rate)) * float64(time.Second))
	for i := range 12 << 10 {
		s.lines = append(s.lines, bytes.Repeat([]byte{byte('a' + i%26)}, 1<<10))
	}
	long := f.For
	f.For, f.Total = long*2/5, 0
	f.Each(func(i int) {
		if err := s.ship(context.Background(), i, f.Unit); err != nil {
			log.Fatal(err)
		}
	})
	f.For = long
	f.Stay()
}

// ship sends part i of the log, some time from now.
func (s *shipper) ship(ctx context.Context, i, size int) error {
	if s.repaired {
		if err := s.slots.Acquire(ctx, 1); err != nil {
			return err
		}
		part := s.cut(i, size)
		go func() {
			defer s.slots.Release(1)
			s.send(part)
		}()
		return nil
	}
	part := s.cut(i, size)
	go func() { // truth: starts
		if err := s.slots.Acquire(ctx, 1); err != nil { // truth: waits
			return
		}
		defer s.slots.Release(1)
		s.send(part)
	}()
	return nil
}

func (s *shipper) cut(i, size int) []byte {
	part := make([]byte, 0, size) // truth: allocates
	for n := i; len(part) < size; n++ {
		line := s.lines[n%len(s.lines)]
		part = append(part, line[:min(len(line), size-len(part))]...) // truth: allocates
	}
	return part
}

// send is slow, as a store far away is.
func (s *shipper) send(part []byte) {
	time.Sleep(s.each)
	s.sum.Store(crc32.ChecksumIEEE(part))
	s.sent.Add(int64(len(part)))
}
