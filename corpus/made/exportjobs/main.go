// Exportjobs is a server that makes exports in the background: a POST starts one, a GET
// takes what came of it, which is deleted then. Most who asked have closed the window
// when it is done, and nobody takes theirs. Repaired, the oldest of 400 go. With -client
// it is the load.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type order struct{ id int }

// result is what an export came to.
type result struct {
	rows int
	file []byte
	made time.Time
}

type service struct {
	size    int
	most    int
	orders  chan order
	next    atomic.Int64
	catalog []string // 20 MiB

	mu   sync.Mutex
	done map[int]*result
}

func main() {
	f := frame.Parse()
	if f.Client {
		load(f)
		return
	}
	s := &service{size: f.Unit, orders: make(chan order, 64), done: map[int]*result{}}
	if f.Repaired {
		s.most = 400
	}
	for range 20 << 7 {
		s.catalog = append(s.catalog, string(frame.Touch(make([]byte, 8<<10))))
	}
	workers, ctx := errgroup.WithContext(context.Background())
	for range 3 {
		workers.Go(func() error { return s.work(ctx) })
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/exports", s.start)
	mux.HandleFunc("/results", s.take)
	server := &http.Server{Addr: f.Address, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { log.Fatal(server.ListenAndServe()) }()
	f.Stay()
	os.Exit(0)
}

func (s *service) start(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "POST it", http.StatusMethodNotAllowed)
		return
	}
	o := order{int(s.next.Add(1))}
	s.orders <- o
	w.WriteHeader(http.StatusAccepted)
	json.NewEncoder(w).Encode(map[string]int{"export": o.id})
}

func (s *service) work(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case o := <-s.orders:
			s.finish(o, s.render(o))
		}
	}
}

func (s *service) render(o order) *result {
	r := &result{file: make([]byte, 0, s.size), made: time.Now()} // truth: allocates
	for len(r.file) < s.size {
		row := s.catalog[(o.id*31+r.rows)%len(s.catalog)]
		r.file = append(r.file, row[:min(len(row), s.size-len(r.file))]...)
		r.rows++
	}
	return r
}

func (s *service) finish(o order, r *result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[o.id] = r // truth: keeps
	if s.most > 0 {
		delete(s.done, o.id-s.most)
	}
}

func (s *service) take(w http.ResponseWriter, r *http.Request) {
	var id int
	fmt.Sscan(r.FormValue("export"), &id)
	s.mu.Lock()
	done := s.done[id]
	delete(s.done, id)
	s.mu.Unlock()
	if done == nil {
		http.Error(w, "not yet", http.StatusNotFound)
		return
	}
	w.Write(done.file)
}

func load(f *frame.Frame) {
	f.Each(func(i int) {
		id, err := ask(f.Address)
		if err != nil {
			time.Sleep(20 * time.Millisecond)
			return
		}
		if i%8 == 0 { // who waits, and asks for one more
			time.Sleep(2 * time.Millisecond)
			fetch(f.Address, id)
			ask(f.Address)
		}
	})
}

func ask(address string) (id int, err error) {
	r, err := http.Post("http://"+address+"/exports", "text/plain", nil)
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	var said map[string]int
	err = json.NewDecoder(r.Body).Decode(&said)
	io.Copy(io.Discard, r.Body)
	return said["export"], err
}

func fetch(address string, id int) {
	r, err := http.Get(fmt.Sprintf("http://%s/results?export=%d", address, id))
	if err != nil {
		return
	}
	defer r.Body.Close()
	io.Copy(io.Discard, r.Body)
}
