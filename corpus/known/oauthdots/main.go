// Oauthdots receives notifications that are signed as a JWS (x/oauth2/jws) and counts them by
// sender. Some senders post a megabyte of dots. It keeps the senders, about 30 MiB.
package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2/jws"
)

type sender struct {
	name  string
	seen  int
	hours [24]int32
}

type inbox struct {
	key     *rsa.PublicKey
	mu      sync.Mutex
	senders map[string]*sender
}

func newInbox(key *rsa.PublicKey) *inbox {
	b := &inbox{key: key, senders: map[string]*sender{}}
	for i := range 120_000 {
		name := fmt.Sprintf("sender-%d", i)
		b.senders[name] = &sender{name: name}
	}
	return b
}

func (b *inbox) accept(text string) error {
	if err := jws.Verify(text, b.key); err != nil {
		return err
	}
	claims, err := jws.Decode(text)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if s, ok := b.senders[claims.Iss]; ok {
		s.seen++
		s.hours[time.Now().Hour()]++
	}
	return nil
}

func (b *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var text strings.Builder
	if _, err := io.Copy(&text, http.MaxBytesReader(w, r.Body, 2<<20)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := b.accept(text.String()); err != nil {
		http.Error(w, "not signed", http.StatusForbidden)
	}
}

func notify(url string, body []byte, every time.Duration, end time.Time) {
	for time.Now().Before(end) {
		resp, err := http.Post(url, "application/jose", bytes.NewReader(body))
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
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		log.Fatal(err)
	}
	good, err := jws.Encode(&jws.Header{Algorithm: "RS256", Typ: "JWT"}, &jws.ClaimSet{Iss: "sender-7"}, key)
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, newInbox(&key.PublicKey))
	end, url := time.Now().Add(*last), "http://"+l.Addr().String()
	var senders sync.WaitGroup
	senders.Go(func() { notify(url, []byte(good), 5*time.Millisecond, end) })
	for range 6 {
		senders.Go(func() { notify(url, bytes.Repeat([]byte("."), 1_000_000), 250*time.Millisecond, end) })
	}
	senders.Wait()
}
