// Ssestreams is a newspaper whose readers get news as events, each in a stream of the reader's own,
// which begins with the first visit. The readers do not stay long. It keeps the articles, 25 MiB.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/r3labs/sse/v2"
)

type paper struct {
	events   *sse.Server
	articles [25_000]string
}

func newPaper() *paper {
	p := &paper{events: sse.New()}
	p.events.AutoStream, p.events.AutoReplay = true, false
	for i := range p.articles {
		p.articles[i] = strings.Repeat("a", 1000)
	}
	return p
}

// ServeHTTP sends a reader news until he goes.
func (p *paper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reader := r.URL.Query().Get("stream")
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
				p.events.Publish(reader, &sse.Event{Data: []byte(p.articles[len(reader)][:100])})
			}
		}
	}()
	p.events.ServeHTTP(w, r)
}

// visit reads the first event and goes.
func visit(url string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = bufio.NewReader(resp.Body).ReadString('\n')
	return err
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, newPaper())
	end := time.Now().Add(*last)
	var readers sync.WaitGroup
	for id := range 8 {
		readers.Go(func() {
			for n := id; time.Now().Before(end); n += 8 {
				if err := visit(fmt.Sprintf("http://%s/?stream=reader-%d", l.Addr(), n)); err != nil {
					log.Print(err)
					return
				}
			}
		})
	}
	readers.Wait()
}
