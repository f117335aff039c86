// Tilecache draws maps. Each export has a cache of tiles of VictoriaMetrics/fastcache,
// whose memory is mapped and is outside of Go's heap. When an export is done its cache
// is dropped, and what it has mapped stays. Repaired, it is reset before that.
package main

import (
	"encoding/binary"
	"log"

	"github.com/VictoriaMetrics/fastcache"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const tileBytes = 32 << 10

type export struct {
	number int
	tiles  *fastcache.Cache
}

type renderer struct {
	exports map[int]*export
	ground  [][]byte // 24 MiB: heights, from which tiles are drawn
	reset   bool
}

func main() {
	f := frame.Parse()
	r := &renderer{exports: map[int]*export{}, reset: f.Repaired}
	for range 24 {
		r.ground = append(r.ground, frame.Touch(make([]byte, 1<<20)))
	}
	drawn := 0
	f.Each(func(i int) {
		e := r.begin(i)
		for tile := range max(1, f.Unit/tileBytes) {
			drawn += len(r.draw(e, uint64(tile)))
		}
		r.end(e)
	})
	if drawn == 0 {
		log.Print("nothing was drawn")
	}
	f.Stay()
}

func (r *renderer) begin(number int) *export {
	e := &export{number: number, tiles: fastcache.New(32 << 20)} // truth: maps
	r.exports[number] = e
	return e
}

func (r *renderer) end(e *export) {
	if r.reset {
		e.tiles.Reset()
	}
	delete(r.exports, e.number) // truth: forgets
}

// draw gives a tile, from the export's cache where it was drawn before.
func (r *renderer) draw(e *export, tile uint64) []byte {
	key := binary.BigEndian.AppendUint64(nil, tile)
	if picture := e.tiles.GetBig(nil, key); len(picture) > 0 {
		return picture
	}
	picture := make([]byte, tileBytes)
	heights := r.ground[tile%uint64(len(r.ground))]
	for i := range picture {
		picture[i] = heights[(i*31+e.number)%len(heights)] ^ byte(tile)
	}
	e.tiles.Set(key, picture) // truth: maps
	return picture
}
