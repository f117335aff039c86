// Tickers starts a goroutine with a ticker for every connection, which goes on
// when the connection has ended. Repaired, the end stops it.
package main

import (
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type connection struct {
	buffer []byte
	end    chan struct{}
}

func main() {
	f := frame.Parse()
	f.Each(func(int) {
		c := open(f.Unit)
		if f.Repaired {
			close(c.end)
		}
	})
	f.Stay()
}

func open(size int) *connection {
	c := &connection{frame.Touch(make([]byte, size)), make(chan struct{})} // truth: allocates
	go c.keepAlive()                                                       // truth: starts
	return c
}

func (c *connection) keepAlive() {
	t := time.NewTicker(5 * time.Second) // truth: allocates
	defer t.Stop()
	for {
		select { // truth: waits
		case <-t.C: // truth: waits
			c.buffer[0]++
		case <-c.end: // truth: waits
			return
		}
	}
}
