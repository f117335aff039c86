// Geofences loads the borders of all districts before it answers where a point is: with
// two floats of 64 bits a corner, more than its limit has room for. Repaired, a corner
// is two distances of 16 bits from the one before.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"math"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const cornerBytes = 16

type corner struct{ x, y float64 }

type step struct{ x, y int16 }

type district struct {
	name    string
	corners []corner
	start   corner
	steps   []step // instead of corners
}

type borders struct {
	districts []*district
	small     bool
}

func main() {
	f := frame.Parse()
	b := &borders{small: f.Repaired}
	survey := bufio.NewReader(&survey{})
	f.Each(func(i int) {
		if err := b.load(fmt.Sprintf("district-%d", i), survey, f.Unit/cornerBytes); err != nil {
			log.Fatal(err)
		}
	})
	inside := 0
	f.Stay()
	if b.at(corner{0.5, 0.5}) != nil {
		inside++
	}
	log.Printf("%d districts, %d have the point", len(b.districts), inside)
}

// survey is a file of corners that never ends.
type survey struct{ n int }

func (s *survey) Read(p []byte) (int, error) {
	n := 0
	for ; n+cornerBytes <= len(p); n += cornerBytes {
		s.n++
		binary.LittleEndian.PutUint64(p[n:], math.Float64bits(float64(s.n%1000)/1000))
		binary.LittleEndian.PutUint64(p[n+8:], math.Float64bits(float64(s.n*7%1000)/1000))
	}
	return n, nil
}

func (b *borders) load(name string, from io.Reader, n int) error {
	d := &district{name: name}
	if b.small {
		d.steps = make([]step, 0, n)
	} else {
		d.corners = make([]corner, 0, n) // truth: allocates
	}
	before := corner{}
	var raw [cornerBytes]byte
	for range n {
		if _, err := io.ReadFull(from, raw[:]); err != nil {
			return fmt.Errorf("load %s: %w", name, err)
		}
		c := corner{math.Float64frombits(binary.LittleEndian.Uint64(raw[:])), math.Float64frombits(binary.LittleEndian.Uint64(raw[8:]))}
		if b.small {
			d.steps = append(d.steps, step{int16((c.x - before.x) * 30000), int16((c.y - before.y) * 30000)})
		} else {
			d.corners = append(d.corners, c) // truth: allocates
		}
		before = c
	}
	b.districts = append(b.districts, d) // truth: keeps
	return nil
}

// at gives the first district that has p inside of the box around it.
func (b *borders) at(p corner) *district {
	for _, d := range b.districts {
		low, high := corner{1, 1}, corner{}
		for c := range d.all() {
			low, high = corner{min(low.x, c.x), min(low.y, c.y)}, corner{max(high.x, c.x), max(high.y, c.y)}
		}
		if low.x <= p.x && p.x <= high.x && low.y <= p.y && p.y <= high.y {
			return d
		}
	}
	return nil
}

// all gives the corners of d, of which there are two forms.
func (d *district) all() map[corner]bool {
	some, at := map[corner]bool{}, d.start
	for _, c := range d.corners[:min(100, len(d.corners))] {
		some[c] = true
	}
	for _, s := range d.steps[:min(100, len(d.steps))] {
		at = corner{at.x + float64(s.x)/30000, at.y + float64(s.y)/30000}
		some[at] = true
	}
	return some
}
