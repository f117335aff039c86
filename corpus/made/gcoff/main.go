// Gcoff has switched the collector off, and told it how much memory there is: it comes when
// that is used up. The heap is high then, most of it garbage, which was the wish and for
// which there is room. No fault, and it has no faulty form.
package main

import (
	"flag"
	"runtime/debug"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type street struct{ name, zip string }

type geocoder struct{ streets map[string]*street }

// load makes streets of total bytes, about 256 each.
func load(total int64) *geocoder {
	g := &geocoder{streets: map[string]*street{}}
	for i := range int(total / 256) {
		b := make([]byte, 0, 96)
		for n := i; len(b) < 88; n = n*7 + 3 {
			b = append(b, 'a'+byte(n&15), 'a'+byte(i>>(len(b)%20)&15))
		}
		name := string(append(b, byte(i), byte(i>>8), byte(i>>16)))
		g.streets[name] = &street{name: name, zip: name[:5]}
	}
	return g
}

func (g *geocoder) find(i, size int) (found []byte) {
	found = make([]byte, 0, size)
	for name, s := range g.streets {
		if len(found)+len(name)+len(s.zip) > size {
			return found
		}
		found = append(append(found, name...), s.zip...)
	}
	return found
}

func main() {
	room := flag.Int64("soft", 512<<20, "how much memory there is, in bytes")
	f := frame.Parse()
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(*room)
	g := load(f.Total)
	f.Total = 0
	length := 0
	f.Each(func(i int) { length += len(g.find(i, f.Unit)) })
	f.Stay()
}
