// Rpcpending calls a service by net/rpc and waits a moment for the answer. A call
// without one stays in the client's table of calls, with its argument, and the
// service, which is overloaded, answers few. Repaired, a connection is given up
// after 50 such calls.
package main

import (
	"bufio"
	"encoding/gob"
	"io"
	"log"
	"net"
	"net/rpc"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// Picture is the argument of a call.
type Picture struct {
	Number int
	Points []byte
}

type caller struct {
	address  string
	client   *rpc.Client
	late     int
	repaired bool
}

func main() {
	f := frame.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go overloaded(l)
	c := &caller{address: l.Addr().String(), repaired: f.Repaired}
	c.dial()
	f.Each(func(i int) { c.classify(i, f.Unit) })
	f.Stay()
}

// overloaded takes every call and answers one of 50.
func overloaded(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			in, out := gob.NewDecoder(bufio.NewReader(conn)), gob.NewEncoder(conn)
			for n := 0; ; n++ {
				var header rpc.Request
				var picture Picture
				if in.Decode(&header) != nil || in.Decode(&picture) != nil {
					return
				}
				if n%50 == 0 {
					out.Encode(rpc.Response{ServiceMethod: header.ServiceMethod, Seq: header.Seq})
					out.Encode("a cat")
				}
			}
		}()
	}
}

func (c *caller) dial() {
	var err error
	if c.client, err = rpc.Dial("tcp", c.address); err != nil {
		log.Fatal(err)
	}
}

func (c *caller) classify(number, size int) string {
	var kind string
	picture := &Picture{number, frame.Touch(make([]byte, size))}                        // truth: allocates
	call := c.client.Go("Classifier.Classify", picture, &kind, make(chan *rpc.Call, 1)) // truth: keeps
	select {
	case <-call.Done:
		if call.Error != nil && call.Error != io.EOF {
			log.Print(call.Error)
		}
		return kind
	case <-time.After(100 * time.Microsecond):
	}
	if c.late++; c.repaired && c.late%50 == 0 {
		c.client.Close()
		c.dial()
	}
	return "unknown"
}
