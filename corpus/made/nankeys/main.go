// Nankeys groups measurements by the share of good ones among all, while a group is open.
// A sensor that measured nothing has 0 of 0, which is not a number: a map takes such a key
// anew each time and never finds it again, not to delete it either. Repaired, such a
// sensor is passed over.
package main

import (
	"math"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type group struct {
	share   float64
	samples []byte
}

type board struct {
	groups map[float64]*group
	skip   bool
	layout [][]byte // 16 MiB
}

func (b *board) add(good, all float64, size int) {
	share := good / all
	if b.skip && math.IsNaN(share) {
		return
	}
	g := b.groups[share]
	if g == nil {
		g = &group{share: share, samples: frame.Touch(make([]byte, size))} // truth: allocates
		b.groups[share] = g                                                // truth: keeps
	}
	g.samples[int(all)%size]++
}

// publish ends a group.
func (b *board) publish(good, all float64) {
	delete(b.groups, good/all)
}

func main() {
	f := frame.Parse()
	b := &board{groups: map[float64]*group{}, skip: f.Repaired}
	for range 16 << 5 {
		b.layout = append(b.layout, frame.Touch(make([]byte, 32<<10)))
	}
	f.Each(func(i int) {
		good, all := float64(i%97), float64(100+i%13)
		b.add(good, all, f.Unit)
		b.add(0, 0, f.Unit) // nothing measured
		b.publish(good, all)
		b.publish(0, 0)
		b.layout[i%len(b.layout)][1]++
	})
	f.Stay()
}
