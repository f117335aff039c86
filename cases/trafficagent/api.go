package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// api is the service whose traffic is watched.
//
//	GET  /users/{page}   20 people as JSON
//	POST /orders         a JSON object, which comes back with a number
//	GET  /export/{mb}    so many MiB of a text that gzip makes a thousandth of
//	GET  /blob/{mb}      so many MiB that say nothing
//
// It answers in gzip to who accepts it. An answer depends on the path alone.
func api() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{page}", func(w http.ResponseWriter, r *http.Request) {
		page, err := strconv.ParseUint(r.PathValue("page"), 10, 32)
		if err != nil {
			http.Error(w, `{"error":"no such page"}`, http.StatusNotFound)
			return
		}
		body, done := compressed(w, r, "application/json")
		defer done()
		json.NewEncoder(body).Encode(map[string]any{"page": page, "users": people(page)})
	})
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var order map[string]any
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&order); err != nil {
			http.Error(w, `{"error":"no JSON"}`, http.StatusBadRequest)
			return
		}
		order["number"] = len(order)
		body, done := compressed(w, r, "application/json")
		defer done()
		json.NewEncoder(body).Encode(order)
	})
	mux.HandleFunc("GET /export/{mb}", func(w http.ResponseWriter, r *http.Request) {
		body, done := compressed(w, r, "text/plain")
		defer done()
		io.Copy(body, repeated(r.PathValue("mb"), "2026-01-01T00:00:00Z INFO nothing happened, as on the day before\n"))
	})
	mux.HandleFunc("GET /blob/{mb}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		io.Copy(w, repeated(r.PathValue("mb"), "\x00\x01\x02\x03\x04\x05\x06\x07"))
	})
	return mux
}

// compressed is where a handler writes its body, and what it calls at its end.
func compressed(w http.ResponseWriter, r *http.Request, mediaType string) (io.Writer, func()) {
	w.Header().Set("Content-Type", mediaType)
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return w, func() {}
	}
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	return z, func() { z.Close() }
}

// repeated repeats a text for so many MiB, 1,024 at most.
func repeated(mb, text string) io.Reader {
	n, _ := strconv.Atoi(mb)
	return io.LimitReader(&repeater{text: strings.Repeat(text, 1+(32<<10)/len(text))}, int64(min(max(n, 0), 1024))<<20)
}

type repeater struct {
	text string
	at   int
}

func (r *repeater) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

func people(page uint64) []any {
	random := rand.New(rand.NewPCG(page, 20))
	all := make([]any, 20)
	for i := range all {
		all[i] = map[string]any{
			"id":       fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", random.Uint32(), random.Uint32()&0xffff, random.Uint32()&0xfff, random.Uint32()&0xfff, random.Uint64()&0xffffffffffff),
			"email":    fmt.Sprintf("user%d@example.org", random.Uint32()),
			"created":  time.Unix(1_600_000_000+random.Int64N(1e8), 0).UTC().Format(time.RFC3339),
			"address":  map[string]any{"street": fmt.Sprintf("%d Long Road", random.IntN(500)), "city": "Oldtown", "from": fmt.Sprintf("192.0.2.%d", random.IntN(256))},
			"balance":  float64(random.IntN(1e6)) / 100,
			"active":   random.IntN(2) == 0,
			"roles":    []string{"reader", "writer"}[:1+random.IntN(2)],
			"password": fmt.Sprintf("%x", random.Uint64()),
			"manager":  nil,
		}
	}
	return all
}
