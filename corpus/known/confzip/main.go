// Confzip takes in lines of logs over HTTP with the server of the OpenTelemetry Collector, bodies of
// 4 MiB and no more. Some bodies are zeros in gzip. It keeps the last lines, 25 MiB.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"io"
	"log"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/confighttp"
)

type receiver struct {
	mu    sync.Mutex
	lines [25_000][]byte
	next  int
}

func newReceiver() *receiver {
	r := &receiver{}
	for i := range r.lines {
		r.lines[i] = bytes.Repeat([]byte("."), 1000)
	}
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range bytes.Lines(body) {
		r.next = (r.next + 1) % len(r.lines)
		copy(r.lines[r.next], line)
	}
}

func packed(body []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(body)
	z.Close()
	return out.Bytes()
}

func send(url string, body []byte, every time.Duration, end time.Time) {
	for ; time.Now().Before(end); time.Sleep(every) {
		req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			log.Fatal(err)
		}
		req.Header.Set("Content-Encoding", "gzip")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			log.Print(err)
			return
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	ctx := context.Background()
	config := &confighttp.ServerConfig{Endpoint: "127.0.0.1:0", MaxRequestBodySize: 4 << 20}
	l, err := config.ToListener(ctx)
	if err != nil {
		log.Fatal(err)
	}
	server, err := config.ToServer(ctx, componenttest.NewNopHost(), componenttest.NewNopTelemetrySettings(), newReceiver())
	if err != nil {
		log.Fatal(err)
	}
	go server.Serve(l)
	url, end := "http://"+l.Addr().String(), time.Now().Add(*last)
	small, large := packed(bytes.Repeat([]byte("a line of a log\n"), 50)), packed(make([]byte, 48<<20))
	var clients sync.WaitGroup
	clients.Go(func() { send(url, small, 3*time.Millisecond, end) })
	for range 2 {
		clients.Go(func() { send(url, large, 400*time.Millisecond, end) })
	}
	clients.Wait()
}
