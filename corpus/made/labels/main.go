// Labels is the metrics middleware of an API: it observes each request in a
// histogram whose label is the address as the client sent it, with the query, so
// that almost every request makes a series and the registry keeps them all.
// Repaired, the label is the route.
package main

import (
	"encoding/hex"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var latency = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name: "http_request_seconds", Help: "Time that a request took.",
}, []string{"code", "path"})

func main() {
	f := frame.Parse()
	registry := prometheus.NewRegistry()
	registry.MustRegister(latency)
	api := http.NewServeMux()
	api.HandleFunc("/download", download)
	handler := observed(api, f.Repaired)
	f.Each(func(i int) {
		r := httptest.NewRequest("GET", signed(i, f.Unit), nil)
		handler.ServeHTTP(httptest.NewRecorder(), r)
	})
	f.Stay()
	if _, err := registry.Gather(); err != nil {
		log.Fatal(err)
	}
}

func observed(next http.Handler, repaired bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		next.ServeHTTP(w, r)
		path := r.URL.RequestURI() // truth: allocates
		if repaired {
			path = r.URL.Path
		}
		latency.WithLabelValues("200", path).Observe(time.Since(began).Seconds()) // truth: keeps
	})
}

func download(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("signature") == "" {
		http.Error(w, "not signed", http.StatusForbidden)
	}
}

// signed is an address with a signature that no other has.
func signed(i, size int) string {
	signature := frame.Touch(make([]byte, max(8, size/2-32)))
	signature[0], signature[1], signature[2] = byte(i), byte(i>>8), byte(i>>16)
	return "/download?signature=" + hex.EncodeToString(signature)
}
