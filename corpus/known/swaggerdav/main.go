// Swaggerdav is the API of a shop with the pages of its documentation. Somebody who looks for holes
// puts files to every path that answers. The shop keeps its articles, 25 MiB.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	swagger "github.com/swaggo/http-swagger"
)

type shop struct {
	articles [25_000]string
}

func newShop() *shop {
	s := &shop{}
	for i := range s.articles {
		s.articles[i] = strings.Repeat("a", 1000)
	}
	return s
}

// handler serves the articles, and the documentation under /docs/.
func (s *shop) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /article/{n}", func(w http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscan(r.PathValue("n"), &n)
		io.WriteString(w, s.articles[n%len(s.articles)])
	})
	docs := swagger.Handler(swagger.URL("/openapi.json"))
	mux.HandleFunc("/docs/", func(w http.ResponseWriter, r *http.Request) {
		docs(w, r)
	})
	return mux
}

// send repeats a request with a new number in its path.
func send(method, url string, body []byte, every time.Duration, end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		req, err := http.NewRequest(method, fmt.Sprint(url, n), bytes.NewReader(body))
		if err != nil {
			log.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
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
	go http.Serve(l, newShop().handler())
	url, end := "http://"+l.Addr().String(), time.Now().Add(*last)
	send(http.MethodGet, url+"/docs/index.html?", nil, 0, time.Now().Add(10*time.Millisecond))
	var clients sync.WaitGroup
	clients.Go(func() { send(http.MethodGet, url+"/article/", nil, 5*time.Millisecond, end) })
	clients.Go(func() {
		send(http.MethodPut, url+"/docs/shell-", bytes.Repeat([]byte("<?php "), 10_000), 10*time.Millisecond, end)
	})
	clients.Wait()
}
