// Scrapes counts what the shops of a chain sell, by shop, till and kind of goods, with
// Prometheus: as many series as there are of these, and no more ever. Every other second they are
// gathered and written as text, which needs as much again for a moment, within a room that is
// large enough. No fault, and it has no faulty form.
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// seriesBytes is about what a series needs while it is gathered.
const seriesBytes = 800

type chain struct {
	registry *prometheus.Registry
	sold     *prometheus.CounterVec
	series   []prometheus.Counter
	scrapes  int
}

func newChain(series int) *chain {
	c := &chain{registry: prometheus.NewRegistry()}
	c.sold = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "goods_sold_total", Help: "What was sold."}, []string{"shop", "till", "kind"})
	c.registry.MustRegister(c.sold)
	for i := range series {
		c.series = append(c.series, c.sold.WithLabelValues(fmt.Sprintf("shop-%04d", i/100), fmt.Sprint(i/10%10), fmt.Sprint("kind-", i%10)))
	}
	return c
}

// scrape writes all series.
func (c *chain) scrape(to io.Writer) error {
	all, err := c.registry.Gather()
	if err != nil {
		return err
	}
	var page bytes.Buffer
	out := expfmt.NewEncoder(&page, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, family := range all {
		if err := out.Encode(family); err != nil {
			return err
		}
	}
	c.scrapes++
	_, err = page.WriteTo(to)
	return err
}

func main() {
	f := frame.Parse()
	c := newChain(int(f.Total/seriesBytes) + 1)
	for n := 0; !f.Over(); {
		if err := c.scrape(io.Discard); err != nil {
			log.Fatal(err)
		}
		for pause := time.Now().Add(2 * time.Second); time.Now().Before(pause) && !f.Over(); n++ {
			c.series[n*7919%len(c.series)].Inc()
			time.Sleep(2 * time.Millisecond)
		}
	}
	f.Stay()
	log.Printf("%d scrapes", c.scrapes)
}
