// Requestnotes is an API behind chi. Its handlers note things about a request in a table by the
// request, and the first middleware takes the request's notes out when it is answered. Between
// the two, another middleware puts an id into the request's context and hands on a copy of the
// request: what was noted of the copy is not found by the first one. Repaired, the order of the
// two is the other way round.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// notes is what handlers note about requests that are open.
type notes struct {
	mu   sync.Mutex
	open map[*http.Request]*note
}

type note struct {
	user string
	body []byte // for the log, should it fail
}

func (n *notes) set(r *http.Request, of *note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open[r] = of // truth: keeps
}

func (n *notes) get(r *http.Request) *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.open[r]
}

// forget is a middleware.
func (n *notes) forget(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			delete(n.open, r) // truth: misses
		}()
		next.ServeHTTP(w, r)
	})
}

type service struct {
	notes  *notes
	offers map[int]*offer // 16 MiB
	size   int
	orders int
}

type offer struct {
	text   string
	prices [48]int64
}

func newService(size int) *service {
	s := &service{notes: &notes{open: map[*http.Request]*note{}}, offers: map[int]*offer{}, size: size}
	for i := range 40_000 {
		s.offers[i] = &offer{fmt.Sprintf("an offer with the number %d", i), [48]int64{int64(i)}}
	}
	return s
}

func (s *service) routes(inner bool) http.Handler {
	r := chi.NewRouter()
	if inner {
		r.Use(middleware.RequestID, s.notes.forget)
	} else {
		r.Use(s.notes.forget, middleware.RequestID) // truth: order
	}
	r.Post("/orders/{offer}", s.order)
	return r
}

func (s *service) order(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, r.ContentLength) // truth: allocates
	if _, err := io.ReadFull(r.Body, body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.notes.set(r, &note{r.Header.Get("X-User"), body}) // truth: notes
	s.answer(w, r)
}

func (s *service) answer(w http.ResponseWriter, r *http.Request) {
	var id int
	fmt.Sscan(chi.URLParam(r, "offer"), &id)
	o := s.offers[id]
	if o == nil {
		http.Error(w, "no offer for "+s.notes.get(r).user, http.StatusNotFound)
		return
	}
	s.orders++
	fmt.Fprintf(w, "%s: %d\n", o.text, o.prices[0])
}

// upload is a body of some bytes.
type upload struct{ left int }

func (u *upload) Read(p []byte) (int, error) {
	if u.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), u.left)
	for i := 0; i < n; i += 64 {
		p[i] = byte(i) | 1
	}
	u.left -= n
	return n, nil
}

func main() {
	f := frame.Parse()
	s := newService(f.Unit)
	routes := s.routes(f.Repaired)
	f.Each(func(i int) {
		r := httptest.NewRequest("POST", fmt.Sprintf("/orders/%d", i%41_000), &upload{f.Unit})
		r.ContentLength = int64(f.Unit)
		r.Header.Set("X-User", fmt.Sprintf("user-%d", i%500))
		routes.ServeHTTP(httptest.NewRecorder(), r)
	})
	f.Stay()
	log.Printf("%d orders, notes of %d requests", s.orders, len(s.notes.open))
}
