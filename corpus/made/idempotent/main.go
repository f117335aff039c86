// Idempotent is a payment API that answers a request that comes twice with the answer of
// the first: a middleware keeps answers by the key that the client sends. The sweep of
// what is old goes over a copy of the map, to hold the lock for a moment only, and
// deletes from the copy. Repaired, it deletes from the map itself.
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/highwater-go/highwater/corpus/made/frame"
	"github.com/highwater-go/highwater/corpus/made/idempotent/replay"
)

type answer struct {
	status int
	body   []byte
}

// answers is what the middleware needs of a store.
type answers interface {
	Get(key string) (*answer, bool)
	Put(key string, a *answer)
}

type api struct {
	kept    answers
	receipt []byte
	rates   map[string][]byte // 20 MiB of exchange rates
}

func main() {
	f := frame.Parse()
	a := &api{kept: replay.New[*answer](400, f.Repaired), receipt: frame.Touch(make([]byte, f.Unit)), rates: map[string][]byte{}}
	for i := range 20 << 6 {
		a.rates[fmt.Sprintf("%04d", i)] = frame.Touch(make([]byte, 16<<10))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	r := chi.NewRouter()
	r.Use(middleware.Recoverer, a.once)
	r.Post("/payments/{currency}", a.pay)
	go func() { log.Fatal((&http.Server{Handler: r}).Serve(l)) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2}}
	f.Each(func(i int) {
		if err := pay(client, l.Addr().String(), i); err != nil {
			log.Print(err)
		}
	})
	f.Stay()
}

func pay(c *http.Client, address string, i int) error {
	req, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://%s/payments/%04d", address, i%1280), bytes.NewReader([]byte("{}")))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", fmt.Sprintf("%08x-%d", i*7919, i))
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func (a *api) pay(w http.ResponseWriter, r *http.Request) {
	if a.rates[chi.URLParam(r, "currency")] == nil {
		http.Error(w, "no such currency", http.StatusNotFound)
		return
	}
	w.Write(a.receipt)
}

// once answers from what is kept, or keeps what next answers.
func (a *api) once(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if old, ok := a.kept.Get(key); ok {
			w.WriteHeader(old.status)
			w.Write(old.body)
			return
		}
		rec := &recorder{ResponseWriter: w, answer: answer{status: http.StatusOK}}
		next.ServeHTTP(rec, r)
		a.kept.Put(key, &rec.answer) // truth: keeps
	})
}

type recorder struct {
	http.ResponseWriter
	answer
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.body = append(r.body, p...) // truth: allocates
	return r.ResponseWriter.Write(p)
}
