// Feedpull reads the feeds of all its readers every few seconds, all at once, each
// as a whole, and counts their items. Repaired, it reads two at a time and counts
// line by line.
package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const feeds = 24

var itemLine = []byte("<item><title>What the neighbours did today</title></item>\n")

type puller struct {
	client   *http.Client
	base     string
	repaired bool
	items    [feeds]int
	readers  [][]int32 // of each feed: 12 MiB
}

func main() {
	f := frame.Parse()
	server := httptest.NewServer(publisher(f.Total / feeds))
	p := &puller{client: server.Client(), base: server.URL, repaired: f.Repaired}
	for n := range feeds {
		p.readers = append(p.readers, make([]int32, 128<<10))
		for i := range p.readers[n] {
			p.readers[n][i] = int32(i * feeds)
		}
	}
	for !f.Over() {
		if err := p.pull(context.Background()); err != nil {
			log.Fatal(err)
		}
		for next := time.Now().Add(1500 * time.Millisecond); !f.Over() && time.Now().Before(next); {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// publisher serves feeds of size bytes, each in about a second.
func publisher(size int64) http.Handler {
	part := bytes.Repeat(itemLine, 64<<10/len(itemLine))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		each := time.Second * time.Duration(len(part)) / time.Duration(max(size, 1))
		if r.URL.Query().Get("fast") != "" {
			each = 0
		}
		for sent := int64(0); sent < size; sent += int64(len(part)) {
			if _, err := w.Write(part); err != nil {
				return
			}
			time.Sleep(each)
		}
	})
}

func (p *puller) pull(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	if p.repaired {
		group.SetLimit(2)
	}
	for n := range feeds {
		group.Go(func() (err error) { // truth: starts
			p.items[n], err = p.feed(ctx, n) // truth: starts
			return err
		})
	}
	return group.Wait()
}

func (p *puller) feed(ctx context.Context, n int) (items int, err error) {
	address := fmt.Sprintf("%s/feed/%d", p.base, n)
	if p.repaired {
		address += "?fast=1"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if p.repaired {
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			items += bytes.Count(lines.Bytes(), []byte("<item>"))
		}
		return items, nil
	}
	body, err := io.ReadAll(answer.Body) // truth: allocates
	if err != nil {
		return 0, err
	}
	return bytes.Count(body, []byte("<item>")), nil
}
