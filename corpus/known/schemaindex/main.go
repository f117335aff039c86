// Schemaindex takes orders as HTML forms. Some forms name an item far beyond the end of the list.
// It keeps a stock list of about 25 MiB.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gorilla/schema"
)

type item struct {
	Article string
	Count   int
	Note    string
	Gift    bool
}

type order struct {
	Customer string
	Items    []item
}

type stock struct {
	decoder *schema.Decoder
	mu      sync.Mutex
	left    map[string]int
}

func newStock() *stock {
	s := &stock{decoder: schema.NewDecoder(), left: map[string]int{}}
	for i := range 300_000 {
		s.left[fmt.Sprintf("article %d", i)] = 1 << 30
	}
	return s
}

func (s *stock) take(o *order) (taken int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range o.Items {
		if o.Items[i].Count > 0 {
			s.left[o.Items[i].Article] -= o.Items[i].Count
			taken++
		}
	}
	return taken
}

func (s *stock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var o order
	if err := s.decoder.Decode(&o, r.PostForm); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, s.take(&o))
}

func send(addr string, index int, every time.Duration, end time.Time) {
	form := url.Values{"Customer": {"me"}}
	form.Set(fmt.Sprintf("Items.%d.Article", index), "article 7")
	form.Set(fmt.Sprintf("Items.%d.Count", index), "1")
	for time.Now().Before(end) {
		resp, err := http.PostForm("http://"+addr, form)
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
	go http.Serve(l, newStock())
	end := time.Now().Add(*last)
	var clients sync.WaitGroup
	clients.Go(func() { send(l.Addr().String(), 0, time.Millisecond, end) })
	for i := range 4 {
		clients.Go(func() { send(l.Addr().String(), 600_000+50_000*i, 200*time.Millisecond, end) })
	}
	clients.Wait()
}
