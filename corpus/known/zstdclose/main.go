// Zstdclose is a log collector: each request has a body that is compressed with zstd. Its handler
// makes a decoder for each body and never closes it. It keeps the last lines, 25 MiB.
package main

import (
	"bytes"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// collector has a ring of the last lines; all of it is there from the start.
type collector struct {
	mu    sync.Mutex
	lines [25_000][]byte
	next  int
}

func newCollector() *collector {
	c := &collector{}
	for i := range c.lines {
		c.lines[i] = bytes.Repeat([]byte("."), 1000)
	}
	return c
}

func (c *collector) keep(lines []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for line := range bytes.Lines(lines) {
		c.next = (c.next + 1) % len(c.lines)
		copy(c.lines[c.next], line)
	}
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := zstd.NewReader(r.Body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	lines, err := io.ReadAll(io.LimitReader(body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.keep(lines)
}

func packed() []byte {
	e, err := zstd.NewWriter(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	return e.EncodeAll(bytes.Repeat([]byte("a line of a log that says something\n"), 200), nil)
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, newCollector())
	end, body := time.Now().Add(*last), packed()
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(end) {
		<-tick.C
		resp, err := http.Post("http://"+l.Addr().String(), "application/zstd", bytes.NewReader(body))
		if err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}
