// Sessions is a login server with a leak: every login adds a session of 16 KiB to
// a map, and nothing removes it. With -fixed, sessions expire.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"sync"
	"time"
)

// lasts is how long a session is good for.
const lasts = time.Second

type session struct {
	began time.Time
	data  []byte
}

// newSession makes what is kept of one login.
func newSession() *session {
	data := make([]byte, 16<<10)
	_, _ = rand.Read(data)
	return &session{time.Now(), data}
}

// store keeps the sessions by their keys.
type store struct {
	mu       sync.Mutex
	sessions map[string]*session
	expire   bool
}

func (s *store) login(w http.ResponseWriter, _ *http.Request) {
	one := newSession()
	key := hex.EncodeToString(one.data[:8])
	s.mu.Lock()
	s.sessions[key] = one
	if s.expire {
		s.removeOld()
	}
	s.mu.Unlock()
	w.Header().Set("Session", key)
}

// removeOld is the repair: what is no longer good is deleted.
func (s *store) removeOld() {
	for key, one := range s.sessions {
		if time.Since(one.began) > lasts {
			delete(s.sessions, key)
		}
	}
}

func main() {
	address := flag.String("addr", "127.0.0.1:8080", "address to listen on")
	fixed := flag.Bool("fixed", false, "sessions expire")
	flag.Parse()
	log.SetFlags(log.Ltime)
	s := &store{sessions: map[string]*session{}, expire: *fixed}
	mux := http.NewServeMux()
	mux.HandleFunc("/login", s.login)
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	if err := serve(&http.Server{Addr: *address, Handler: mux}); err != nil && !errors.Is(err, http.ErrServerClosed) {
		log.Print(err)
		os.Exit(1)
	}
}
