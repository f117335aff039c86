// Expvars is a small web service that publishes how often its pages were asked for, with
// package expvar. It counts by the request's URI, which has the query in it, and clients send
// long ones: a variable for each, which expvar never forgets. Repaired, it counts by the
// route.
package main

import (
	"bufio"
	"expvar"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// numbers are what the service publishes.
type numbers struct {
	requests *expvar.Map
	slowest  *expvar.Float
	byRoute  bool
}

func newNumbers(byRoute bool) *numbers {
	return &numbers{expvar.NewMap("requests"), expvar.NewFloat("slowest_seconds"), byRoute}
}

// count is the middleware.
func (n *numbers) count(route string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		began, name := time.Now(), r.Method+" "+route
		if !n.byRoute {
			name = r.Method + " " + r.RequestURI // truth: names
		}
		n.requests.Add(name, 1) // truth: keeps
		next(w, r)
		if took := time.Since(began).Seconds(); took > n.slowest.Value() {
			n.slowest.Set(took)
		}
	}
}

// search answers from an index of 20 MiB.
type search struct {
	words map[string][]int32
}

func newSearch() *search {
	s := &search{words: map[string][]int32{}}
	for i := range 5 << 10 {
		places := make([]int32, 1<<10)
		for n := range places {
			places[n] = int32(i*n + 1)
		}
		s.words[fmt.Sprintf("word%d", i)] = places
	}
	return s
}

func (s *search) find(w http.ResponseWriter, r *http.Request) {
	for _, word := range strings.Fields(r.URL.Query().Get("q")) {
		if places := s.words[word]; places != nil {
			fmt.Fprintf(w, "%s: %d\n", word, places[0])
		}
	}
}

// browser is the client, with one connection.
type browser struct {
	out *bufio.Writer
	in  *bufio.Reader
}

func dial(address string) (*browser, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &browser{bufio.NewWriter(c), bufio.NewReader(c)}, nil
}

func (b *browser) ask(i int, token string) error {
	fmt.Fprintf(b.out, "GET /search?q=word%d+word%d&session=%09d", i%5000, i%77, i)
	b.out.WriteString(token)
	b.out.WriteString(" HTTP/1.1\r\nHost: search\r\n\r\n")
	if err := b.out.Flush(); err != nil {
		return err
	}
	answer, err := http.ReadResponse(b.in, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

func main() {
	f := frame.Parse()
	n, s := newNumbers(f.Repaired), newSearch()
	mux := http.NewServeMux()
	mux.HandleFunc("/search", n.count("/search", s.find))
	mux.HandleFunc("/health", n.count("/health", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "well") }))
	mux.Handle("/debug/vars", expvar.Handler())
	server := httptest.NewUnstartedServer(mux)
	server.Config.MaxHeaderBytes = 1 << 20
	server.Start()
	token := strings.Repeat("0123456789abcdef", f.Unit/16+1)
	b, err := dial(server.Listener.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	f.Each(func(i int) {
		if err := b.ask(i, token[:max(f.Unit-64, 16)]); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}
