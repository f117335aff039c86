// Digestreport tells every other second how fast each service was, by caio/go-tdigest. For
// that it reads the raw times of the period, all at once, and lets them go with the report.
// No fault, and it has no faulty form.
package main

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"time"

	"github.com/caio/go-tdigest/v4"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const services = 24

type reporter struct {
	hosts  [][]byte // 10 MiB: what is known of each host
	raw    int      // times of one service
	source *rand.Rand
}

func main() {
	f := frame.Parse()
	r := &reporter{raw: int(f.Total / services / 8), source: rand.New(rand.NewPCG(1, 2))}
	for range 10 << 20 / (4 << 10) {
		r.hosts = append(r.hosts, frame.Touch(make([]byte, 4<<10)))
	}
	for !f.Over() {
		if err := r.report(io.Discard); err != nil {
			log.Fatal(err)
		}
		for next := time.Now().Add(2 * time.Second); !f.Over() && time.Now().Before(next); {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func (r *reporter) report(to io.Writer) error {
	period := r.read()
	for n, times := range period {
		digest, err := tdigest.New(tdigest.Compression(50))
		if err != nil {
			return err
		}
		for i := 0; i < len(times); i += 64 { // a sample of them does
			if err := digest.Add(times[i]); err != nil {
				return err
			}
		}
		host := r.hosts[n*31%len(r.hosts)]
		if _, err := fmt.Fprintf(to, "service %d at %x: %.1f ms, %.1f ms\n", n, host[:4], digest.Quantile(0.5), digest.Quantile(0.99)); err != nil {
			return err
		}
	}
	return nil
}

// read is what the services measured since the last report.
func (r *reporter) read() [][]float64 {
	period := make([][]float64, services)
	for n := range period {
		period[n] = make([]float64, r.raw) // truth: allocates
		for i := range period[n] {
			period[n][i] = float64(r.source.Uint32()>>8) / 1e5
		}
	}
	return period
}
