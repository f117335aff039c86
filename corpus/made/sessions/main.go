// Sessions is a server that makes a session for each request without a cookie,
// and forgets none; its load has no cookies. Repaired, it forgets the oldest of
// 400. With -client it is that load.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type session struct{ cart []byte }

type store struct {
	mu       sync.Mutex
	sessions map[int]*session
	next     int
	most     int // 0: no bound
	size     int
}

func main() {
	f := frame.Parse()
	if f.Client {
		load(f)
		return
	}
	s := &store{sessions: map[int]*session{}, size: f.Unit}
	if f.Repaired {
		s.most = 400
	}
	http.HandleFunc("/", s.page)
	go func() { log.Fatal(http.ListenAndServe(f.Address, nil)) }()
	f.Stay()
}

func (s *store) page(w http.ResponseWriter, r *http.Request) {
	id := s.begin()
	http.SetCookie(w, &http.Cookie{Name: "session", Value: fmt.Sprint(id)})
	fmt.Fprintln(w, "welcome")
}

func (s *store) begin() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.sessions[s.next] = &session{frame.Touch(make([]byte, s.size))} // truth: allocates
	if s.most > 0 {
		delete(s.sessions, s.next-s.most)
	}
	return s.next
}

func load(f *frame.Frame) {
	f.Each(func(int) {
		r, err := http.Get("http://" + f.Address + "/")
		if err != nil {
			time.Sleep(20 * time.Millisecond)
			return
		}
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	})
}
