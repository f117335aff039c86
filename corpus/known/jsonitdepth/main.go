// Jsonitdepth keeps the settings of 20,000 devices as values, 30 MiB, that arrive as JSON. Some documents
// are lists in lists, a hundred thousand deep.
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

	jsoniter "github.com/json-iterator/go"
)

type devices struct {
	mu       sync.Mutex
	settings map[string]any
}

func newDevices() *devices {
	d := &devices{settings: map[string]any{}}
	for i := range 20_000 {
		d.settings[fmt.Sprint("/", i)] = map[string]any{"id": float64(i), "note": strings.Repeat("n", 1200)}
	}
	return d
}

func (d *devices) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	setting, err := parse(body)
	if err != nil {
		http.Error(w, "this is not JSON", http.StatusBadRequest)
		return
	}
	if _, ok := setting.(map[string]any); !ok {
		http.Error(w, "settings are an object", http.StatusUnprocessableEntity)
		return
	}
	d.mu.Lock()
	d.settings[r.URL.Path] = setting
	d.mu.Unlock()
}

func parse(document []byte) (value any, err error) {
	err = jsoniter.Unmarshal(document, &value)
	return value, err
}

func send(url, document string, every time.Duration, end time.Time) {
	for time.Now().Before(end) {
		resp, err := http.Post(url, "application/json", strings.NewReader(document))
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
	go http.Serve(l, newDevices())
	url, end := "http://"+l.Addr().String(), time.Now().Add(*last)
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	var clients sync.WaitGroup
	for i := range 2 {
		clients.Go(func() {
			send(fmt.Sprint(url, "/", i), `{"id":7,"note":"`+strings.Repeat("m", 1200)+`"}`, 5*time.Millisecond, end)
		})
	}
	clients.Go(func() {
		time.Sleep(calm)
		send(url+"/100", deep, time.Second, end)
	})
	clients.Wait()
}
