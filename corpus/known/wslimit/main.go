// Wslimit is a chat over WebSocket that takes messages of 64 KiB and no more. Some clients begin a
// message with a frame of a length that no frame can have. It keeps the last messages, 25 MiB.
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

type chat struct {
	upgrader websocket.Upgrader
	mu       sync.Mutex
	last     [400][]byte
	next     int
}

func newChat() *chat {
	c := &chat{}
	for i := range c.last {
		c.last[i] = make([]byte, 64<<10)
		c.last[i][0] = 1
	}
	return c
}

func (c *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := c.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	conn.SetReadLimit(64 << 10)
	for c.take(conn) == nil {
	}
}

func (c *chat) take(conn *websocket.Conn) error {
	_, text, err := conn.ReadMessage()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = (c.next + 1) % len(c.last)
	copy(c.last[c.next], text)
	return nil
}

func dial(addr string) (net.Conn, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: chat\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("upgrade: %s", resp.Status)
	}
	return conn, nil
}

// frame is the head of a masked frame; the mask is zero.
func frame(first byte, length uint64) []byte {
	head := binary.BigEndian.AppendUint64([]byte{first, 0x80 | 127}, length)
	return append(head, 0, 0, 0, 0)
}

// talk sends a message of size bytes in frames of 32 KiB, after the frames of start.
func talk(addr string, start []byte, size int) error {
	conn, err := dial(addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	part := append(frame(0, 32<<10), make([]byte, 32<<10)...) // a continuation
	if len(start) == 0 {
		start = frame(2, 0)
	}
	conn.Write(start)
	for range size / (32 << 10) {
		if _, err := conn.Write(part); err != nil {
			return nil // refused
		}
		time.Sleep(time.Millisecond)
	}
	conn.Write(frame(0x80, 0))
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, newChat())
	end := time.Now().Add(*last)
	var clients sync.WaitGroup
	client := func(start []byte, size int, every time.Duration) {
		for ; time.Now().Before(end); time.Sleep(every) {
			if err := talk(l.Addr().String(), start, size); err != nil {
				log.Print(err)
				return
			}
		}
	}
	clients.Go(func() { client(nil, 32<<10, 10*time.Millisecond) })
	for range 3 {
		clients.Go(func() { client(frame(2, 1<<63), 32<<20, 300*time.Millisecond) })
	}
	clients.Wait()
}
