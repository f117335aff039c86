// Otelagent is an HTTP service that otelhttp measures. Its clients change their User-Agent with
// each request. The service keeps 25 MiB of articles.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

type articles struct{ texts [5000][]byte }

func loadArticles() *articles {
	a := &articles{}
	for i := range a.texts {
		a.texts[i] = bytes.Repeat([]byte("word "), 1000)
	}
	return a
}

func (a *articles) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Write(a.texts[len(r.UserAgent())][:100])
}

// report collects the measurements every 5 s, as an exporter does.
func report(r metric.Reader) {
	for range time.Tick(5 * time.Second) {
		var all metricdata.ResourceMetrics
		if err := r.Collect(context.Background(), &all); err != nil {
			log.Print(err)
		}
	}
}

func get(url string, n int) error {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", fmt.Sprintf("Mozilla/5.0 (compatible; crawler/%d.0; +https://crawler.example/about)", n))
	resp, err := http.DefaultClient.Do(req)
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
	reader := metric.NewManualReader()
	go report(reader)
	measured := otelhttp.NewHandler(loadArticles(), "articles",
		otelhttp.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, measured)
	end := time.Now().Add(*last)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		for i := range 6 {
			if err := get("http://"+l.Addr().String(), 6*n+i); err != nil {
				log.Fatal(err)
			}
		}
	}
}
