// Helmset keeps the values of 20,000 releases as YAML, 25 MiB, that their users set as helm's --set
// does. Some of them set an element of a list far behind its end.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"helm.sh/helm/v3/pkg/strvals"
)

type releases struct {
	mu     sync.Mutex
	values map[string]string
}

func newReleases() *releases {
	r := &releases{values: map[string]string{}}
	for i := range 20_000 {
		r.values[fmt.Sprint("/", i)] = fmt.Sprintf("servers:\n- a\n- b\nnote: %s\n", strings.Repeat("n", 1200))
	}
	return r
}

func (r *releases) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	text, err := io.ReadAll(io.LimitReader(req.Body, 1<<16))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	values, err := set(string(text))
	if err != nil || len(values) > 1<<16 {
		http.Error(w, "this cannot be set", http.StatusUnprocessableEntity)
		return
	}
	r.mu.Lock()
	r.values[req.URL.Path] = values
	r.mu.Unlock()
}

func set(text string) (string, error) {
	return strvals.ToYAML(text)
}

func send(url, text string, every time.Duration, end time.Time) {
	for time.Now().Before(end) {
		resp, err := http.Post(url, "text/plain", strings.NewReader(text))
		if err != nil {
			log.Print(err)
			return
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		time.Sleep(every)
	}
}

// calm is how long nothing bad comes at first.
const calm = 6 * time.Second

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, newReleases())
	url, end := "http://"+l.Addr().String(), time.Now().Add(*last)
	var clients sync.WaitGroup
	for i := range 2 {
		clients.Go(func() {
			send(fmt.Sprint(url, "/", i), "servers[0]=a,servers[1]=c,note="+strings.Repeat("m", 1200), 5*time.Millisecond, end)
		})
	}
	clients.Go(func() {
		time.Sleep(calm)
		send(url+"/100", "servers[400000]=c", time.Second, end)
	})
	clients.Wait()
}
