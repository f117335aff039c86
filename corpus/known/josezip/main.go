// Josezip is a message gateway: partners post encrypted messages (JWE) and it forwards those that
// it can read. One partner sends messages that are small only because they are compressed.
// It keeps the routes of its partners, about 25 MiB.
package main

import (
	"bytes"
	"crypto/rand"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

type route struct {
	partner int
	hops    [24]int64
}

type gateway struct {
	key    []byte
	mu     sync.Mutex
	routes map[int]route
	bytes  int64
}

func newGateway() *gateway {
	g := &gateway{key: make([]byte, 32), routes: map[int]route{}}
	rand.Read(g.key)
	for i := range 80_000 {
		g.routes[i] = route{partner: i}
	}
	return g
}

func (g *gateway) open(text string) ([]byte, error) {
	message, err := jose.ParseEncrypted(text, []jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		return nil, err
	}
	return message.Decrypt(g.key)
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	plain, err := g.open(string(text))
	if err != nil {
		http.Error(w, "cannot read the message", http.StatusBadRequest)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bytes += int64(len(plain))
	w.WriteHeader(http.StatusAccepted)
}

func (g *gateway) seal(plain []byte) string {
	e, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: jose.DIRECT, Key: g.key},
		&jose.EncrypterOptions{Compression: jose.DEFLATE})
	if err != nil {
		log.Fatal(err)
	}
	message, err := e.Encrypt(plain)
	if err != nil {
		log.Fatal(err)
	}
	text, err := message.CompactSerialize()
	if err != nil {
		log.Fatal(err)
	}
	return text
}

func post(url, text string, every time.Duration, end time.Time) {
	for time.Now().Before(end) {
		resp, err := http.Post(url, "application/jose", bytes.NewReader([]byte(text)))
		if err != nil {
			log.Print(err)
			return
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		time.Sleep(every)
	}
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	g := newGateway()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, g)
	end, url := time.Now().Add(*last), "http://"+l.Addr().String()
	small, large := g.seal(make([]byte, 2000)), g.seal(make([]byte, 24<<20))
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() { post(url, small, time.Millisecond, end) })
	}
	for range 4 {
		clients.Go(func() { post(url, large, 300*time.Millisecond, end) })
	}
	clients.Wait()
}
