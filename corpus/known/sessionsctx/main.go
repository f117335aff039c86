// Sessionsctx is a shop whose carts are in cookies: gorilla/sessions reads and writes them. Its
// handler is given to net/http as it is. It keeps a price list of about 25 MiB.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/sessions"
)

type price struct {
	article string
	cents   [12]int64
}

type shop struct {
	carts  sessions.Store
	prices map[string]*price
}

func newShop() *shop {
	s := &shop{carts: sessions.NewCookieStore([]byte("an authentication key of 32 byte")), prices: map[string]*price{}}
	for i := range 120_000 {
		name := fmt.Sprintf("article-%06d", i)
		s.prices[name] = &price{article: name}
	}
	return s
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	cart, err := s.carts.Get(r, "cart")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := r.URL.Query().Get("article")
	p, ok := s.prices[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	cart.Values["last"] = p.article
	if err := cart.Save(r, w); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(w, p.article, p.cents[0])
}

func visit(client *http.Client, addr string, n int) error {
	resp, err := client.Get(fmt.Sprintf("http://%s/?article=article-%06d", addr, n%120_000))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, newShop())
	end := time.Now().Add(*last)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		for i := range 4 {
			if err := visit(http.DefaultClient, l.Addr().String(), 4*n+i); err != nil {
				log.Fatal(err)
			}
		}
	}
}
