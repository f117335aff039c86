// Wsclose asks a service over WebSocket for the price of an article, in a connection of its own each
// time, and closes it as it should. It keeps the prices, 25 MiB.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"nhooyr.io/websocket"
)

type prices struct {
	mu   sync.Mutex
	text [25_000]string
}

func newPrices() *prices {
	p := &prices{}
	for i := range p.text {
		p.text[i] = strings.Repeat("p", 1000)
	}
	return p
}

// ask is one question.
func (p *prices) ask(ctx context.Context, url string, article int) error {
	conn, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return err
	}
	if err := conn.Write(ctx, websocket.MessageText, fmt.Append(nil, article)); err != nil {
		return err
	}
	_, price, err := conn.Read(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.text[article%len(p.text)] = string(price)
	p.mu.Unlock()
	return conn.Close(websocket.StatusNormalClosure, "")
}

// service answers one question and waits for the end.
func service(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	ctx := r.Context()
	kind, article, err := conn.Read(ctx)
	if err != nil {
		return
	}
	conn.Write(ctx, kind, append(article, strings.Repeat(" cents", 150)...))
	conn.Read(ctx)
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, http.HandlerFunc(service))
	p, end := newPrices(), time.Now().Add(*last)
	var clients sync.WaitGroup
	for id := range 2 {
		clients.Go(func() {
			for n := id; time.Now().Before(end); n += 2 {
				if err := p.ask(context.Background(), "ws://"+l.Addr().String(), n); err != nil {
					log.Print(err)
					return
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	clients.Wait()
}
