// Bigcachefull keeps rendered fragments of pages in a cache of allegro/bigcache with
// a bound in MiB. It grows until that is reached, and then the newest fragment
// overwrites the oldest: no fault. It has no faulty form.
package main

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"log"
	"strings"
	"time"

	"github.com/allegro/bigcache/v3"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const shards = 16

var box = template.Must(template.New("box").Parse(`<div class="box"><h2>{{.Title}}</h2><p>{{.Text}}</p></div>`))

type fragment struct{ Title, Text string }

type site struct {
	cache  *bigcache.BigCache
	text   string
	missed int
}

func main() {
	f := frame.Parse()
	cache, err := bigcache.New(context.Background(), bigcache.Config{
		Shards:             shards,
		LifeWindow:         time.Hour,
		MaxEntriesInWindow: 16 << 10,
		MaxEntrySize:       512,
		HardMaxCacheSize:   int(max(1, f.Total>>20)),
	})
	if err != nil {
		log.Fatal(err)
	}
	s := &site{cache: cache, text: strings.Repeat("lorem ipsum ", f.Unit/12)}
	f.Total = 0 // readers go on
	f.Each(func(i int) {
		page := i
		if i%8 == 7 { // what was read a moment ago
			page = i - 5
		}
		if _, err := s.fragment(page); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func (s *site) fragment(page int) ([]byte, error) {
	key := fmt.Sprintf("page-%d", page)
	text, err := s.cache.Get(key)
	if err == nil {
		return text, nil
	}
	if !errors.Is(err, bigcache.ErrEntryNotFound) {
		return nil, err
	}
	s.missed++
	var out strings.Builder
	out.Grow(len(s.text) + 128)
	if err := box.Execute(&out, fragment{key, s.text}); err != nil {
		return nil, err
	}
	return []byte(out.String()), s.cache.Set(key, []byte(out.String())) // truth: allocates
}
