// Fleetstate knows the last state of each lorry of a firm, by its number. A lorry is new to it
// when it reports for the first time, and each report replaces the one before; nothing is ever
// deleted, and nothing need be, since there are so many lorries and no more. No fault, and it has
// no faulty form.
package main

import (
	"encoding/json"
	"log"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type report struct {
	Lorry int     `json:"lorry"`
	North float64 `json:"north"`
	East  float64 `json:"east"`
	Load  int     `json:"load"`
}

// state is what is known of a lorry.
type state struct {
	report
	reports int
	track   []byte // its way of today, packed
}

type fleet struct {
	states map[int]*state
	size   int
	total  int
}

func (l *fleet) take(text []byte) error {
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	next := &state{report: r, reports: 1, track: frame.Touch(make([]byte, l.size))}
	if was := l.states[r.Lorry]; was != nil {
		next.reports += was.reports
		copy(next.track[1:], was.track[:len(was.track)/2])
	}
	l.states[r.Lorry] = next
	l.total++
	return nil
}

func main() {
	f := frame.Parse()
	lorries := max(f.Count(), 1)
	l := &fleet{states: map[int]*state{}, size: f.Unit}
	f.Total = 0 // they go on
	f.Each(func(i int) {
		number := int(uint32(i) * 2654435761 >> 4 % uint32(lorries))
		text, err := json.Marshal(report{number, 48 + float64(i%700)/100, 8 + float64(i%500)/100, i % 40})
		if err != nil {
			log.Fatal(err)
		}
		if err := l.take(text); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
	log.Printf("%d of %d lorries, %d reports", len(l.states), lorries, l.total)
}
