// Accesslog is a proxy that writes a line for each request to a log, and begins another file
// when the one is full; two are kept. What it needs is small; the pages of the files are in the
// kernel's cache, which goes when there is need. No fault, and it has no faulty form.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// rotating is a log of files of at most bytes each.
type rotating struct {
	most, written int64
	file, old     *os.File
	w             *bufio.Writer
	turns         int
}

// turn begins another file, which has no name any more: it ends with the program.
func (r *rotating) turn() error {
	if r.file != nil {
		if err := r.w.Flush(); err != nil {
			return err
		}
	}
	if r.old != nil {
		r.old.Close()
	}
	file, err := os.CreateTemp(".", "access-")
	if err != nil {
		return err
	}
	os.Remove(file.Name())
	r.old, r.file, r.written = r.file, file, 0
	r.w = bufio.NewWriterSize(file, 64<<10)
	r.turns++
	return nil
}

func (r *rotating) Write(p []byte) (int, error) {
	if r.file == nil || r.written+int64(len(p)) > r.most {
		if err := r.turn(); err != nil {
			return 0, err
		}
	}
	n, err := r.w.Write(p)
	r.written += int64(n)
	return n, err
}

type upstream struct {
	host    string
	latency [128]float64
}

// proxy has 12 MiB of services behind it.
type proxy struct {
	log       *rotating
	upstreams []*upstream
	line      []byte
}

func newProxy(most int64) *proxy {
	p := &proxy{log: &rotating{most: most}}
	for i := range 11_000 {
		p.upstreams = append(p.upstreams, &upstream{host: fmt.Sprint("host", i)})
		p.upstreams[i].latency[i%128] = float64(i)
	}
	return p
}

func (p *proxy) request(i int) error {
	u := p.upstreams[i%len(p.upstreams)]
	u.latency[i%128] = float64(i % 300)
	p.line = fmt.Appendf(p.line[:0], "2026-01-01T10:00:00Z 10.0.%d.%d GET /articles/%d 200 %.1fms %s \"a browser of some kind, version 128\"\n", i>>8&255, i&255, i, u.latency[i%128], u.host)
	_, err := p.log.Write(p.line)
	return err
}

func main() {
	f := frame.Parse()
	p := newProxy(f.Total / 2)
	for i := 0; !f.Over(); {
		for range 50_000 { // some 6 MiB of lines
			if err := p.request(i); err != nil {
				log.Fatal(err)
			}
			i++
		}
		time.Sleep(150 * time.Millisecond)
	}
	f.Stay()
	log.Printf("%d files", p.log.turns)
}
