// Relay passes bytes from one connection to another through buffers of a sync.Pool,
// and a new connection comes for every piece: much goes through it and little
// stays. No fault, and it has no faulty form.
package main

import (
	"io"
	"log"
	"net"
	"sync"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }} // truth: allocates

func main() {
	f := frame.Parse()
	sink := listen(func(c net.Conn) { io.Copy(io.Discard, c) })
	front := listen(func(c net.Conn) { relay(c, sink) })
	piece := frame.Touch(make([]byte, f.Unit))
	f.Each(func(int) {
		c, err := net.Dial("tcp", front)
		if err != nil {
			log.Fatal(err)
		}
		c.Write(piece)
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, c)
		c.Close()
	})
	f.Stay()
}

// listen serves each connection in a goroutine and gives the address.
func listen(serve func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l.Addr().String()
}

func relay(from net.Conn, to string) {
	next, err := net.Dial("tcp", to)
	if err != nil {
		log.Print(err)
		return
	}
	defer next.Close()
	buffer := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buffer)
	// Without ReadFrom the copy goes through the buffer.
	io.CopyBuffer(struct{ io.Writer }{next}, struct{ io.Reader }{from}, buffer[:])
}
