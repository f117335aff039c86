// Channelsink hands readings to a slow store by an InfiniteChannel of eapache/channels, so
// that who measures never waits. They come twice as fast as they are stored for a part of
// the day, and the channel holds the rest until the night. Repaired, the channel has room
// for 64, and who measures waits.
package main

import (
	"hash/crc32"
	"sync/atomic"
	"time"

	"github.com/eapache/channels"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type reading struct {
	sensor int
	values []byte
}

type store struct {
	each    time.Duration // for one reading
	sensors [][]byte      // 15 MiB: the last reading of each
	stored  atomic.Int64
	sum     atomic.Uint32
}

func main() {
	f := frame.Parse()
	s := &store{each: time.Duration(2 * float64(f.Unit) / float64(max(1, f.Rate)) * float64(time.Second))}
	for range 15 << 20 / (4 << 10) {
		s.sensors = append(s.sensors, frame.Touch(make([]byte, 4<<10)))
	}
	var waiting channels.Channel = channels.NewInfiniteChannel() // truth: makes
	if f.Repaired {
		waiting = channels.NewNativeChannel(64)
	}
	go s.drain(waiting.Out())
	long := f.For
	f.For, f.Total = long*2/5, 0
	f.Each(func(i int) { waiting.In() <- measure(i, f.Unit) }) // truth: keeps
	f.For = long
	f.Stay()
}

func measure(i, size int) *reading {
	r := &reading{sensor: i, values: make([]byte, size)} // truth: allocates
	for n := range r.values {
		r.values[n] = byte(i + n)
	}
	return r
}

// drain stores one reading after another. What is late is made good by no pause.
func (s *store) drain(from <-chan any) {
	next := time.Now()
	for r := range from {
		r := r.(*reading)
		copy(s.sensors[r.sensor%len(s.sensors)], r.values)
		s.sum.Store(crc32.ChecksumIEEE(r.values))
		s.stored.Add(1)
		if next = next.Add(s.each); time.Since(next) > s.each {
			next = time.Now()
		}
		time.Sleep(time.Until(next))
	}
}
