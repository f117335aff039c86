// Statictables answers what a parcel costs. Its tables are computed at the start and stay;
// each question and answer is JSON, and garbage after that. No fault, and it has no faulty
// form.
package main

import (
	"encoding/json"
	"log"
	"math"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type question struct {
	From, To int
	Grams    float64
	Options  map[string]string
}

type offer struct {
	Cents   int
	Steps   []string
	Applied map[string]any
}

type tariff struct{ rows [][]float64 }

// compute makes tables of total bytes.
func compute(total int64) *tariff {
	t := &tariff{}
	const width = 4096
	for y := range int(total / (width * 8)) {
		row := make([]float64, width)
		for x := range row {
			row[x] = math.Sqrt(float64(x*x+y*y)) + 1
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func (t *tariff) answer(text []byte) ([]byte, error) {
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, err
	}
	o := offer{Cents: int(t.rows[q.From%len(t.rows)][q.To%4096] * q.Grams), Applied: map[string]any{}}
	for k, v := range q.Options {
		o.Steps = append(o.Steps, k+"="+v)
		o.Applied[k] = v
	}
	return json.Marshal(o)
}

func main() {
	f := frame.Parse()
	t := compute(f.Total)
	questions := time.NewTicker(2 * time.Millisecond)
	for i := 0; !f.Over(); i++ {
		q, err := json.Marshal(question{From: i, To: i * 7, Grams: 120, Options: map[string]string{"express": "yes", "insured": "no", "note": string(make([]byte, 2000))}})
		if err == nil {
			_, err = t.answer(q)
		}
		if err != nil {
			log.Fatal(err)
		}
		<-questions.C
	}
	f.Stay()
}
