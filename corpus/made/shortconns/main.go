// Shortconns speaks a protocol of lines over TCP: clients come, say a few, and go, all the
// time. Each connection has a buffer for reading and one for writing, which go with it, and
// no more than 32 are served at once. No fault, and it has no faulty form.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"strings"
	"sync/atomic"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type counters struct {
	byName map[string]*atomic.Int64 // fixed: what may be counted
	served atomic.Int64
}

func newCounters() *counters {
	c := &counters{byName: map[string]*atomic.Int64{}}
	for i := range 60_000 {
		c.byName[fmt.Sprintf("shop/%06d/visits/today", i)] = new(atomic.Int64)
	}
	return c
}

type server struct {
	counters *counters
	room     chan struct{}
	buffer   int
}

func (s *server) accept(l net.Listener) {
	for {
		s.room <- struct{}{}
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { <-s.room }()
			defer c.Close()
			if err := s.serve(c); err != nil {
				log.Print(err)
			}
		}()
	}
}

func (s *server) serve(c net.Conn) error {
	lines, out := bufio.NewScanner(c), bufio.NewWriterSize(c, s.buffer/2)
	lines.Buffer(make([]byte, s.buffer/2), s.buffer)
	for lines.Scan() {
		n := s.counters.byName[strings.TrimSpace(lines.Text())]
		if n == nil {
			fmt.Fprintln(out, "no such counter")
			continue
		}
		fmt.Fprintln(out, n.Add(1))
	}
	s.counters.served.Add(1)
	if err := lines.Err(); err != nil {
		return err
	}
	return out.Flush()
}

// visit is a client that counts three visits.
func visit(address string, i int) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	for n := range 3 {
		fmt.Fprintf(c, "shop/%06d/visits/today\n", (i*3+n)%60_000)
	}
	c.(*net.TCPConn).CloseWrite()
	answers := bufio.NewScanner(c)
	for answers.Scan() {
	}
	return answers.Err()
}

func main() {
	f := frame.Parse()
	s := &server{counters: newCounters(), room: make(chan struct{}, 32), buffer: f.Unit / 2}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go s.accept(l)
	f.Each(func(i int) {
		if err := visit(l.Addr().String(), i); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
	log.Printf("%d served", s.counters.served.Load())
}
