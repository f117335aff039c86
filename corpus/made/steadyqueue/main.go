// Steadyqueue holds payments back for a while before they are made, so that they can
// be stopped: as many leave the queue as come, and the same amount is in it all the
// time. No fault, and it has no faulty form.
package main

import (
	"encoding/json"
	"log"
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type payment struct {
	Number int             `json:"number"`
	Cents  int             `json:"cents"`
	Terms  json.RawMessage `json:"terms"`
}

type desk struct {
	held    chan *payment
	terms   string
	made    int
	stopped int
}

func main() {
	f := frame.Parse()
	d := &desk{held: make(chan *payment, max(1, f.Count())), terms: `"` + strings.Repeat("payable at once; ", max(1, (f.Unit-150)/17)) + `"`}
	f.Total, f.Rate = 0, 12<<20
	for i := range cap(d.held) { // those of the night, which are there when it starts
		if err := d.take(i); err != nil {
			log.Fatal(err)
		}
	}
	f.Each(func(i int) {
		d.pay(<-d.held)
		if err := d.take(cap(d.held) + i); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func (d *desk) take(number int) error {
	p := new(payment)
	order := `{"number": ` + strings.Repeat("1", 1+number%6) + `, "cents": 1250, "terms": ` + d.terms + `}`
	if err := json.Unmarshal([]byte(order), p); err != nil { // truth: allocates
		return err
	}
	d.held <- p
	return nil
}

func (d *desk) pay(p *payment) {
	if p.Number%97 == 0 {
		d.stopped++
		return
	}
	d.made += p.Cents
}
