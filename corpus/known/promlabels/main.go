// Promlabels is an HTTP API that counts its requests with promhttp. Its clients are scanners
// that send a method of their own with each request. It keeps a product catalogue of about 30 MiB.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

type product struct {
	ID    int
	Name  string
	Notes []byte
}

// catalogue is complete before the first request and stays as it is.
type catalogue struct{ byID map[int]*product }

func loadCatalogue() *catalogue {
	c := &catalogue{byID: map[int]*product{}}
	for i := range 30_000 {
		c.byID[i] = &product{ID: i, Name: fmt.Sprintf("product %d", i), Notes: bytes.Repeat([]byte("note "), 180)}
	}
	return c
}

func (c *catalogue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := json.NewEncoder(w).Encode(c.byID[len(r.Method)%100]); err != nil {
		log.Print(err)
	}
}

func instrumented(h http.Handler) http.Handler {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "http_request_seconds", Buckets: prometheus.DefBuckets,
	}, []string{"code", "method"})
	prometheus.MustRegister(seconds)
	return promhttp.InstrumentHandlerDuration(seconds, h)
}

// scan sends requests with a new method each over one connection until the time is over.
func scan(addr string, end time.Time) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); {
		<-tick.C
		for range 6 {
			n++
			fmt.Fprintf(conn, "SCAN%d%s / HTTP/1.1\r\nHost: shop\r\n\r\n", n, strings.Repeat("X", 40))
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				return err
			}
			if err := json.NewDecoder(resp.Body).Decode(&product{}); err != nil {
				return err
			}
			resp.Body.Close()
		}
	}
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, instrumented(loadCatalogue()))
	if err := scan(l.Addr().String(), time.Now().Add(*last)); err != nil {
		log.Fatal(err)
	}
}
