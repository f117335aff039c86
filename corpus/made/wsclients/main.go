// Wsclients tells its clients of prices, over websockets that they open when the exchange opens
// and keep all day. Each has its buffers, and a goroutine that waits for what it says. All are
// there soon after the start, and as many stay. No fault, and it has no faulty form.
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

// each is what a client needs besides its buffers of the server's: both ends, their goroutines.
const each = 26 << 10

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

type exchange struct {
	up      websocket.Upgrader
	size    int
	mu      sync.Mutex
	clients []*client
}

// client has its last prices, to tell what has changed.
type client struct {
	conn *websocket.Conn
	last []byte
}

func (x *exchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := x.up.Upgrade(w, r, nil)
	if err != nil {
		log.Print(err)
		return
	}
	defer conn.Close()
	x.mu.Lock()
	x.clients = append(x.clients, &client{conn, frame.Touch(make([]byte, x.size))})
	x.mu.Unlock()
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			return
		}
	}
}

func (x *exchange) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.clients)
}

// tell sends a price to a client.
func (x *exchange) tell(i int) error {
	x.mu.Lock()
	c := x.clients[i%len(x.clients)]
	x.mu.Unlock()
	price := fmt.Appendf(nil, `{"paper":%d,"cents":%d}`, i%4000, 10_000+i%777)
	copy(c.last, price)
	return c.conn.WriteMessage(websocket.TextMessage, price)
}

// watch is a client, which reads for as long as it is there.
func watch(d *websocket.Dialer) error {
	conn, _, err := d.Dial("ws://prices.internal/", nil)
	if err != nil {
		return err
	}
	go func() {
		for {
			if _, _, err := conn.ReadMessage(); err != nil {
				return
			}
		}
	}()
	return nil
}

func main() {
	f := frame.Parse()
	x, l := &exchange{size: f.Unit}, &pipes{make(chan net.Conn)}
	go func() { log.Fatal(http.Serve(l, x)) }()
	d := &websocket.Dialer{NetDial: l.dial}
	clients := int(f.Total/int64(f.Unit+each)) + 1
	for range clients {
		if err := watch(d); err != nil {
			log.Fatal(err)
		}
	}
	for x.count() < clients {
		time.Sleep(time.Millisecond)
	}
	log.Print(frame.Done)
	told := 0
	for i := 0; !f.Over(); i++ {
		if err := x.tell(i); err != nil {
			log.Fatal(err)
		}
		told++
		time.Sleep(time.Millisecond)
	}
	log.Printf("%d prices told", told)
}
