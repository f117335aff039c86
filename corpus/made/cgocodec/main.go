// Cgocodec measures how loud recordings are, with a decoder in C. It skips those with
// one channel, and returns before it closes their decoder. Repaired, that is deferred.
// It needs cgo.
package main

import (
	"errors"
	"log"

	"github.com/highwater-go/highwater/corpus/made/cgocodec/codec"
	"github.com/highwater-go/highwater/corpus/made/frame"
)

var errMono = errors.New("only one channel")

type studio struct {
	levels   []int32 // 16 MiB: of all recordings of the year
	repaired bool
	skipped  int
}

func main() {
	f := frame.Parse()
	s := &studio{levels: make([]int32, 4<<20), repaired: f.Repaired}
	for i := range s.levels {
		s.levels[i] = int32(i)
	}
	f.Each(func(i int) {
		channels := 1
		if i%16 == 0 {
			channels = 2
		}
		if err := s.measure(i, f.Unit, channels); errors.Is(err, errMono) {
			s.skipped++
		} else if err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func (s *studio) measure(number, size, channels int) error {
	d := codec.Open(size, channels) // truth: calls
	if s.repaired {
		defer d.Close()
	}
	if d.Channels() < 2 {
		return errMono // truth: forgets
	}
	s.levels[number%len(s.levels)] = int32(d.Loudness())
	if !s.repaired {
		d.Close()
	}
	return nil
}
