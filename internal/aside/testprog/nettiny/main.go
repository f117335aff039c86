// Nettiny is a small server on net/http, as most are: its linker has switched
// heap profiling off, and there is no pprof endpoint. GET /leak?n=BYTES
// remembers so many bytes, GET /garbage?n=BYTES makes and drops them, GET /
// answers that it is ready. It listens on loopback only.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"testprog/truth"
)

//go:embed main.go
var source string

// server remembers what it was asked to.
type server struct {
	limit truth.Size

	mu   sync.Mutex
	kept [][]byte
	live truth.Size
}

// leak is the fault: what a request brought stays, up to the limit.
func (s *server) leak(w http.ResponseWriter, r *http.Request) {
	n, ok := size(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live+n > s.limit {
		http.Error(w, "no more than -max", http.StatusInsufficientStorage)
		return
	}
	b := make([]byte, n) // truth: leak
	truth.Touch(b)
	s.kept = append(s.kept, b)
	s.live += n
	fmt.Fprintln(w, "remembered", s.live.Progress())
}

// garbage is a request that leaves nothing.
func (s *server) garbage(w http.ResponseWriter, r *http.Request) {
	n, ok := size(w, r)
	if !ok {
		return
	}
	b := make([]byte, min(n, s.limit)) // truth: garbage
	truth.Touch(b)
	fmt.Fprintln(w, "dropped", truth.Size(len(b)).Progress())
}

// size is the request's n; false: it has been answered with an error.
func size(w http.ResponseWriter, r *http.Request) (n truth.Size, ok bool) {
	if err := n.Set(r.FormValue("n")); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return 0, false
	}
	return n, true
}

func main() {
	s := &server{limit: truth.GiB}
	flag.Var(&s.limit, "max", "remember no more than this")
	address := flag.String("addr", "127.0.0.1:0", "loopback address to listen on; port 0: a free one")
	wait := flag.Duration("wait", 0, "listen only after this time")
	lasts := flag.Duration("for", 5*time.Minute, "end after this time")
	tell := flag.Bool("truth", false, "print what is true of this program and end")
	flag.Parse()
	if *tell {
		t := truth.Truth{Program: "nettiny", Class: "leak", ClassUnlimited: "leak", LiveBytes: int64(s.limit)}
		t.Blame(source, "leak")
		t.Mark(source, "garbage")
		t.Print()
	}
	time.Sleep(*wait)
	if err := serve(s, *address, *lasts); err != nil {
		fmt.Fprintln(os.Stderr, "nettiny:", err)
		os.Exit(1)
	}
	fmt.Println("ended")
}

func serve(s *server, address string, lasts time.Duration) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/leak", s.leak)
	mux.HandleFunc("/garbage", s.garbage)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ready") })
	h := &http.Server{Handler: mux}
	time.AfterFunc(lasts, func() { h.Shutdown(context.Background()) })
	fmt.Printf("listening on http://%s\n", l.Addr())
	if err := h.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}
