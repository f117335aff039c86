// Ccachefull keeps the pages of a catalogue in a cache of karlseguin/ccache, whose sizes are
// counted and bounded. It grows until it is full, and then as much goes as comes. No fault,
// and it has no faulty form.
package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"log"
	"time"

	"github.com/karlseguin/ccache/v3"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type page struct {
	article int
	text    []byte
}

// Size is what the cache counts by.
func (p *page) Size() int64 { return int64(cap(p.text)) + 256 }

type shop struct {
	pages *ccache.Cache[*page]
	sum   uint32
}

func main() {
	f := frame.Parse()
	s := &shop{pages: ccache.New(ccache.Configure[*page]().MaxSize(f.Total).ItemsToPrune(64).GetsPerPromote(1))}
	defer s.pages.Stop()
	f.Total = 0
	f.Each(func(i int) {
		if err := s.show(i, f.Unit); err != nil {
			log.Fatal(err)
		}
		if err := s.show(i-i%10, f.Unit); err != nil { // of ten articles one is asked for often
			log.Fatal(err)
		}
	})
	f.Stay()
}

func (s *shop) show(article, size int) error {
	item, err := s.pages.Fetch(fmt.Sprintf("article-%d", article), time.Hour, func() (*page, error) {
		return render(article, size)
	})
	if err != nil {
		return err
	}
	s.sum ^= crc32.ChecksumIEEE(item.Value().text)
	return nil
}

func render(article, size int) (*page, error) {
	if size <= 0 {
		return nil, errors.New("a page without room")
	}
	p := &page{article, frame.Touch(make([]byte, size))} // truth: allocates
	return p, nil
}
