// Vmsummary runs jobs and measures the steps of each in a summary of its own, which it takes out of
// the set of metrics when the job is done. It keeps the results, 25 MiB.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

type runner struct {
	set     *metrics.Set
	results [25_000]string
}

func newRunner() *runner {
	r := &runner{set: metrics.NewSet()}
	for i := range r.results {
		r.results[i] = strings.Repeat("r", 1000)
	}
	r.set.NewGauge("results", func() float64 { return float64(len(r.results)) })
	return r
}

// job does 800 steps.
func (r *runner) job(n int) error {
	name := fmt.Sprintf(`step_seconds{job="nightly-%d"}`, n)
	steps := r.set.NewSummary(name)
	for i := range 800 {
		began := time.Now()
		if r.results[(800*n+i)%len(r.results)] == "" {
			return fmt.Errorf("a result of job %d is missing", n)
		}
		steps.UpdateDuration(began)
	}
	r.results[n%len(r.results)] = strings.Repeat("s", 1000)
	if !r.set.UnregisterMetric(name) {
		return fmt.Errorf("%s was not there", name)
	}
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	r := newRunner()
	end, tick := time.Now().Add(*last), time.NewTicker(4*time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		if err := r.job(n); err != nil {
			log.Fatal(err)
		}
		if n%1000 == 0 {
			r.set.WritePrometheus(io.Discard)
		}
	}
}
