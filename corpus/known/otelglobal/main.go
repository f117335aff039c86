// Otelglobal is a worker that counts its jobs with OpenTelemetry's global meter. No SDK is
// configured where it runs, and it asks for its counters by name whenever it needs them. It keeps
// a table of postal codes, about 25 MiB.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

type place struct {
	Code, Town string
	Streets    []string
}

type worker struct{ places []place }

func newWorker() *worker {
	w := &worker{}
	for i := range 60_000 {
		w.places = append(w.places, place{
			Code: fmt.Sprintf("%05d", i), Town: fmt.Sprintf("town %d", i), Streets: make([]string, 16),
		})
	}
	return w
}

// count adds one to a counter of this worker.
func count(ctx context.Context, name string) error {
	c, err := otel.Meter("postal").Int64Counter(name, metric.WithDescription("jobs by outcome"))
	if err != nil {
		return err
	}
	c.Add(ctx, 1)
	return nil
}

// job answers with one place as JSON.
func (w *worker) job(ctx context.Context, n int) error {
	if err := count(ctx, "jobs_started"); err != nil {
		return err
	}
	text, err := json.Marshal(w.places[n%len(w.places)])
	if err != nil {
		return err
	}
	if len(text) > 100 {
		return count(ctx, "jobs_large")
	}
	return count(ctx, "jobs_small")
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	w := newWorker()
	end := time.Now().Add(*last)
	for n := 0; time.Now().Before(end); n++ {
		if n%60 == 0 {
			time.Sleep(time.Millisecond)
		}
		if err := w.job(context.Background(), n); err != nil {
			log.Fatal(err)
		}
	}
}
