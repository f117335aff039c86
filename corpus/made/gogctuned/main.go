// Gogctuned has told the collector to wait until the heap is four times what is live,
// since its machine has the memory and nobody else needs it. The heap is high and comes
// down again, which was the wish: no fault. It has no faulty form.
package main

import (
	"compress/gzip"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"runtime/debug"
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type song struct {
	title string
	plays []uint32
}

type charts struct {
	songs  []*song
	zipped int
}

func main() {
	f := frame.Parse()
	debug.SetGCPercent(300) // truth: sets
	c := load(int(f.Total / 1200))
	f.Total = 0
	f.Each(func(i int) {
		n, err := c.week(i, f.Unit)
		if err != nil {
			log.Fatal(err)
		}
		c.zipped += n
	})
	f.Stay()
}

func load(n int) *charts {
	c := &charts{}
	for i := range n {
		s := &song{title: fmt.Sprintf("The ballad of no. %d", i), plays: make([]uint32, 280)} // truth: allocates
		for d := range s.plays {
			s.plays[d] = uint32(i * d)
		}
		c.songs = append(c.songs, s)
	}
	return c
}

// week writes a page of size bytes, and gives what it is when it is zipped: of every
// fiftieth alone, the others are served as they are.
func (c *charts) week(i, size int) (int, error) {
	var page strings.Builder
	for n := i; page.Len() < size && len(c.songs) > 0; n++ {
		s := c.songs[n%len(c.songs)]
		h := fnv.New32a()
		io.WriteString(h, s.title)
		fmt.Fprintf(&page, "%08x %s: %d plays on day %d\n", h.Sum32(), s.title, s.plays[i%len(s.plays)], i%len(s.plays)) // truth: garbage
	}
	if i%50 != 0 {
		return page.Len(), nil
	}
	var zipped strings.Builder
	z := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(z, page.String()); err != nil {
		return 0, err
	}
	return zipped.Len(), z.Close()
}
