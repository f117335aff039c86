// Hijacked is a server of live scores that knows each of its connections, with a buffer for what
// it says in the log: net/http tells it when a connection is new, and when it is closed. One that
// becomes a websocket is taken from net/http, which tells that too and nothing more, and nobody
// listens to it. Repaired, a connection that is taken is dropped from the table as well.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// pipes is a listener whose connections are in memory.
type pipes struct{ waiting chan net.Conn }

func (p *pipes) Accept() (net.Conn, error) { return <-p.waiting, nil }
func (p *pipes) Close() error              { return nil }
func (p *pipes) Addr() net.Addr            { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.waiting <- there
	return here, nil
}

// client is what is known of a connection.
type client struct {
	since time.Time
	trace []byte
}

type server struct {
	mu      sync.Mutex
	clients map[net.Conn]*client
	taken   bool // is looked at
	size    int
	scores  map[int]*match // 13 MiB
	up      websocket.Upgrader
	said    int
}

type match struct {
	teams [2]string
	goals [36]int64
}

func newServer(size int, taken bool) *server {
	s := &server{clients: map[net.Conn]*client{}, taken: taken, size: size, scores: map[int]*match{}}
	for i := range 40_000 {
		s.scores[i] = &match{[2]string{"home", "away"}, [36]int64{int64(i)}}
	}
	return s
}

// changed is called by net/http.
func (s *server) changed(conn net.Conn, to http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case to == http.StateNew:
		s.clients[conn] = &client{time.Now(), frame.Touch(make([]byte, s.size))} // truth: keeps
	case to == http.StateClosed, to == http.StateHijacked && s.taken:
		delete(s.clients, conn)
	}
}

// ServeHTTP tells a score over a websocket and closes it.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := s.up.Upgrade(w, r, nil)
	if err != nil {
		log.Print(err)
		return
	}
	defer conn.Close()
	var number int
	if err := conn.ReadJSON(&number); err != nil {
		return
	}
	m := s.scores[number%len(s.scores)]
	if err := conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, "%s %d", m.teams[0], m.goals[0])); err != nil {
		return
	}
	s.said++
}

// look is a client.
func look(d *websocket.Dialer, number int) error {
	conn, _, err := d.Dial("ws://scores.internal/", nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.WriteJSON(number); err != nil {
		return err
	}
	_, _, err = conn.ReadMessage()
	return err
}

func main() {
	f := frame.Parse()
	s, l := newServer(f.Unit, f.Repaired), &pipes{make(chan net.Conn)}
	serves := &http.Server{Handler: s, ConnState: s.changed} // truth: tells
	go func() { log.Fatal(serves.Serve(l)) }()
	d := &websocket.Dialer{NetDial: l.dial}
	f.Each(func(i int) {
		if err := look(d, i); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
	log.Printf("%d scores", s.said)
}
