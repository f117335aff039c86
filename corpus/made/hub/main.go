// Hub sends each message to every websocket that is registered. A client that went
// away ends the goroutine that writes to it, but nobody tells the hub: for such
// clients it queues messages for ever. Repaired, they are taken out.
package main

import (
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/gorilla/websocket"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const watchers = 8

type client struct {
	conn *websocket.Conn
	wake chan struct{}

	mu    sync.Mutex
	queue [][]byte
}

type hub struct {
	mu       sync.Mutex
	clients  map[*client]bool
	repaired bool
	joined   sync.WaitGroup
}

func main() {
	f := frame.Parse()
	h := &hub{clients: map[*client]bool{}, repaired: f.Repaired}
	h.joined.Add(watchers)
	server := httptest.NewServer(h)
	for i := range watchers {
		watch("ws"+strings.TrimPrefix(server.URL, "http"), i == 0)
	}
	h.joined.Wait()
	f.Each(func(i int) { h.broadcast(i, f.Unit/(watchers-1)) })
	f.Stay()
}

// watch opens a websocket. Only a loyal client reads on.
func watch(address string, loyal bool) {
	conn, _, err := websocket.DefaultDialer.Dial(address, nil)
	if err != nil {
		log.Fatal(err)
	}
	if !loyal {
		conn.NetConn().Close()
		return
	}
	go func() {
		for {
			if _, _, err := conn.ReadMessage(); err != nil {
				return
			}
		}
	}()
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		log.Fatal(err)
	}
	c := &client{conn: conn, wake: make(chan struct{}, 1)}
	h.mu.Lock()
	h.clients[c] = true
	h.mu.Unlock()
	h.joined.Done()
	go c.write(h)
	conn.ReadMessage() // until it goes away
	conn.Close()
}

func (h *hub) broadcast(i, size int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		c.send(encode(i, size))
	}
}

func encode(i, size int) []byte {
	text := frame.Touch(make([]byte, max(16, size))) // truth: allocates
	text[0] = byte(i)
	return text
}

func (c *client) send(message []byte) {
	c.mu.Lock()
	c.queue = append(c.queue, message) // truth: keeps
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write writes what is queued until the client is gone.
func (c *client) write(h *hub) {
	for range c.wake {
		c.mu.Lock()
		messages := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, m := range messages {
			if err := c.conn.WriteMessage(websocket.BinaryMessage, m); err != nil {
				if h.repaired {
					h.leave(c)
				}
				return
			}
		}
	}
}

func (h *hub) leave(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c)
}
