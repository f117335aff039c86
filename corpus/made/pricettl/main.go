// Pricettl keeps quotes of suppliers for a short time in a cache of
// jellydator/ttlcache. What is over is not given out any more, but it is not deleted
// either: nobody called Start. Repaired, somebody does.
package main

import (
	"encoding/json"
	"io"
	"log"
	"strconv"
	"strings"
	"time"

	"github.com/jellydator/ttlcache/v3"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type quote struct {
	Supplier string          `json:"supplier"`
	Cents    int64           `json:"cents"`
	Terms    json.RawMessage `json:"terms"`
}

type desk struct {
	quotes   *ttlcache.Cache[string, *quote]
	supplier *supplier
	// rates are the freight rates of all pairs of ports: 24 MiB, used with each quote.
	rates [][]float64
}

func main() {
	f := frame.Parse()
	lasts := time.Second
	if f.Rate > 0 { // for some 250 quotes
		lasts = max(10*time.Millisecond, time.Duration(250*float64(f.Unit)/float64(f.Rate)*float64(time.Second)))
	}
	d := &desk{
		quotes: ttlcache.New(
			ttlcache.WithTTL[string, *quote](lasts),
			ttlcache.WithDisableTouchOnHit[string, *quote](),
		),
		supplier: newSupplier(f.Unit),
		rates:    freight(1773),
	}
	if f.Repaired {
		go d.quotes.Start()
	}
	var sum int64
	f.Each(func(i int) {
		q, err := d.quote("container-" + strconv.Itoa(i))
		if err != nil {
			log.Fatal(err)
		}
		sum += q.Cents + int64(d.rates[i%1773][i*7%1773])
	})
	f.Stay()
}

func (d *desk) quote(shipment string) (*quote, error) {
	if item := d.quotes.Get(shipment); item != nil {
		return item.Value(), nil
	}
	q := new(quote)
	if err := json.NewDecoder(d.supplier.ask(shipment)).Decode(q); err != nil { // truth: allocates
		return nil, err
	}
	d.quotes.Set(shipment, q, ttlcache.DefaultTTL) // truth: keeps
	return q, nil
}

func freight(ports int) [][]float64 {
	rates := make([][]float64, ports)
	for a := range rates {
		rates[a] = make([]float64, ports)
		for b := range rates[a] {
			rates[a][b] = float64((a*31+b*17)%9000) + 0.99
		}
	}
	return rates
}

// supplier answers with a price and its terms, which are long.
type supplier struct{ terms string }

func newSupplier(size int) *supplier {
	return &supplier{strings.Repeat("Payment within thirty days. ", max(1, size/28))}
}

func (s *supplier) ask(shipment string) io.Reader {
	return io.MultiReader(
		strings.NewReader(`{"supplier": "Hansa", "cents": `+strconv.Itoa(len(shipment)*1250)+`, "terms": {"text": "`),
		strings.NewReader(s.terms),
		strings.NewReader(`"}}`))
}
