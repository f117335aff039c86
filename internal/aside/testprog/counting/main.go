// Counting is a server on net/http that counts its requests and publishes them in
// Prometheus' text format at /metrics. GET / remembers -keep bytes and makes
// -garbage bytes; every -every requests the server stands still for -stall. It
// listens on loopback only.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

// server counts, and remembers.
type server struct {
	keep, garbage, limit truth.Size
	every                int
	stall                time.Duration
	last                 int // the number of the request that ends it; 0: none
	ended                func()

	mu       sync.Mutex
	requests int
	kept     [][]byte
	live     truth.Size
	dropped  []byte
}

// work is the fault: what a request brought stays, up to the limit.
func (s *server) work(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.every > 0 && s.requests%s.every == 0 {
		time.Sleep(s.stall)
	}
	if s.live+s.keep <= s.limit && s.keep > 0 {
		b := make([]byte, s.keep) // truth: leak
		truth.Touch(b)
		s.kept = append(s.kept, b)
		s.live += s.keep
	}
	for left := s.garbage; left > 0; left -= 16 * truth.KiB {
		s.dropped = make([]byte, 16*truth.KiB) // truth: garbage
	}
	fmt.Fprintln(w, "done")
	if s.requests == s.last {
		go s.ended()
	}
}

// metrics are as the client library writes them.
func (s *server) metrics(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	fmt.Fprintf(w, "# HELP http_requests_total Requests served.\n# TYPE http_requests_total counter\n")
	fmt.Fprintf(w, "http_requests_total{code=\"200\",path=\"/\"} %d\n", s.requests)
	fmt.Fprintf(w, "# TYPE build_info gauge\nbuild_info{version=\"1\"} 1\n")
	fmt.Fprintf(w, "# TYPE go_goroutines gauge\ngo_goroutines %d\n", runtime.NumGoroutine())
}

func main() {
	s := &server{limit: truth.GiB}
	flag.Var(&s.keep, "keep", "bytes that each request leaves; 0: none")
	flag.Var(&s.garbage, "garbage", "bytes of garbage that each request makes")
	flag.Var(&s.limit, "max", "remember no more than this")
	flag.IntVar(&s.every, "every", 0, "stand still every so many requests; 0: never")
	flag.DurationVar(&s.stall, "stall", 500*time.Millisecond, "how long it stands still")
	flag.IntVar(&s.last, "requests", 0, "end after so many requests; 0: after any number")
	address := flag.String("addr", "127.0.0.1:0", "loopback address to listen on; port 0: a free one")
	wait := flag.Duration("wait", 0, "listen only after this time")
	lasts := flag.Duration("for", 5*time.Minute, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "counting", Class: "healthy", ClassUnlimited: "healthy"}
		if s.keep > 0 {
			t.Class, t.ClassUnlimited, t.LiveBytes = "leak", "leak", int64(s.limit)
		}
		t.Blame(source, "leak")
		t.Mark(source, "garbage")
		t.Print()
	}
	time.Sleep(*wait)
	if err := serve(s, *address, *lasts); err != nil {
		fmt.Fprintln(os.Stderr, "counting:", err)
		os.Exit(1)
	}
	fmt.Println("ended after", s.requests, "requests")
}

func serve(s *server, address string, lasts time.Duration) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.work)
	mux.HandleFunc("/metrics", s.metrics)
	fmt.Println("ready at", l.Addr())
	server := http.Server{Handler: mux}
	s.ended = func() { _ = server.Shutdown(context.Background()) }
	time.AfterFunc(lasts, func() { _ = server.Close() })
	if err := server.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}
