// Command callbacks subscribes forty times, and says {}.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"example.net/bus"
)

type session struct {
	out chan []byte
}

func join(c *bus.Conn) *session {
	s := &session{make(chan []byte, 8)}
	c.Subscribe(func(m []byte) {
		s.out <- m
	})
	return s
}

func (s *session) take(m []byte) { s.out <- m }

func main() {
	count := 0
	c := bus.Connect(func() { count++ })
	for range make([]int, 40) {
		c.Listen(join(c).take)
	}
	c.Poll(40)
	time.Sleep(50 * time.Millisecond) // until all of them wait
	runtime.GC()
	fmt.Println("{}")
	io.Copy(io.Discard, os.Stdin)
	fmt.Println(count, c)
}
