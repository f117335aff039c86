// Patchindex keeps the settings of 20,000 devices as JSON, 25 MiB, and changes them by JSON Patch.
// Some patches copy an element to a place far behind the end of a list.
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

	jsonpatch "github.com/evanphx/json-patch"
)

type devices struct {
	mu       sync.Mutex
	settings map[string][]byte
}

func newDevices() *devices {
	d := &devices{settings: map[string][]byte{}}
	for i := range 20_000 {
		d.settings[fmt.Sprint(i)] = fmt.Appendf(nil, `{"id":%d,"servers":["a","b"],"note":"%s"}`, i, strings.Repeat("n", 1200))
	}
	return d
}

func (d *devices) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id := strings.TrimPrefix(r.URL.Path, "/")
	d.mu.Lock()
	old := d.settings[id]
	d.mu.Unlock()
	changed, err := change(old, body)
	if err != nil || len(changed) > 1<<16 {
		http.Error(w, "this cannot be changed so", http.StatusUnprocessableEntity)
		return
	}
	d.mu.Lock()
	d.settings[id] = changed
	d.mu.Unlock()
}

func change(document, patch []byte) ([]byte, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	return operations.Apply(document)
}

func send(url, patch string, every time.Duration, end time.Time) {
	for time.Now().Before(end) {
		req, err := http.NewRequest(http.MethodPatch, url, bytes.NewReader([]byte(patch)))
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
	go http.Serve(l, newDevices())
	url, end := "http://"+l.Addr().String(), time.Now().Add(*last)
	var clients sync.WaitGroup
	for i := range 2 {
		clients.Go(func() {
			send(fmt.Sprint(url, "/", i), `[{"op":"replace","path":"/servers/1","value":"c"}]`, 5*time.Millisecond, end)
		})
		clients.Go(func() {
			send(fmt.Sprint(url, "/", 100+i), `[{"op":"copy","from":"/id","path":"/servers/2500000"}]`, 500*time.Millisecond, end)
		})
	}
	clients.Wait()
}
