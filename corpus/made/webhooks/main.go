// Webhooks is a service of integrations: who connects an account gets an address of his own
// to send events to, and the address is put into the server's mux together with what handles
// it. Accounts are disconnected as often as others are connected. A mux has no way to take an
// address out, so that it only tells who still comes that he is late, and keeps the handler
// with the account's settings. Repaired, there is one address with a name in it, and a map.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// integration is a connected account.
type integration struct {
	mu       sync.Mutex
	name     string
	settings []byte
	events   int
	gone     bool
}

func (in *integration) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.gone {
		http.Error(w, "disconnected", http.StatusGone)
		return
	}
	in.events++
	fmt.Fprintf(w, "%s %d", in.name, in.settings[0])
}

type service struct {
	mux    *http.ServeMux
	oneMap bool
	mu     sync.Mutex
	byName map[string]*integration
	newest []*integration
	mapper [][]string // 17 MiB of field names, for what comes
}

func newService(oneMap bool) *service {
	s := &service{mux: http.NewServeMux(), oneMap: oneMap, byName: map[string]*integration{}}
	for i := range 1000 {
		fields := make([]string, 0, 500)
		for n := range 500 {
			fields = append(fields, fmt.Sprintf("field%d%d", i, n))
		}
		s.mapper = append(s.mapper, fields)
	}
	s.mux.HandleFunc("POST /hooks/{name}", s.find)
	return s
}

// find is the one address of the repaired service.
func (s *service) find(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	in := s.byName[r.PathValue("name")]
	s.mu.Unlock()
	if in == nil {
		http.Error(w, "disconnected", http.StatusGone)
		return
	}
	in.ServeHTTP(w, r)
}

func (s *service) connect(name string, size int) {
	in := &integration{name: name, settings: frame.Touch(make([]byte, size))} // truth: allocates
	if s.oneMap {
		s.mu.Lock()
		s.byName[name] = in
		s.mu.Unlock()
	} else {
		s.mux.Handle("POST /hooks/"+name, in) // truth: keeps
	}
	s.newest = append(s.newest, in)
	if len(s.newest) > 50 {
		s.disconnect(s.newest[0])
		s.newest[0] = nil
		s.newest = s.newest[1:]
	}
}

func (s *service) disconnect(in *integration) {
	in.mu.Lock()
	in.gone = true
	in.mu.Unlock()
	s.mu.Lock()
	delete(s.byName, in.name)
	s.mu.Unlock()
}

func main() {
	f := frame.Parse()
	s := newService(f.Repaired)
	server := httptest.NewServer(s.mux)
	sent := 0
	f.Each(func(i int) {
		name := fmt.Sprintf("account-%d", i)
		s.connect(name, f.Unit)
		if i%4 != 0 {
			return
		}
		answer, err := http.Post(server.URL+"/hooks/"+name, "text/plain", strings.NewReader(s.mapper[i%1000][i%500]))
		if err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		sent++
	})
	f.Stay()
	log.Printf("%d events sent", sent)
}
