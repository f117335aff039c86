// Outage sends measurements to a collector in batches. What could not be sent stays
// in the batch, and the collector is down for the middle third of the time: the
// batch then is all of that third. Repaired, the oldest beyond 200 are dropped.
package main

import (
	"errors"
	"log"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type measurement struct{ series []byte }

type exporter struct {
	batch   []measurement
	most    int // 0: no bound
	dropped int
	send    func([]measurement) error
}

func main() {
	f := frame.Parse()
	if f.For <= 0 {
		log.Fatal("give a time with -for: the outage is a third of it")
	}
	began := time.Now()
	e := &exporter{send: func([]measurement) error {
		if part := 3 * time.Since(began) / f.For; part == 1 {
			return errors.New("connection refused")
		}
		return nil
	}}
	if f.Repaired {
		e.most = 200
	}
	f.Total = 0
	f.Each(func(i int) {
		e.add(measure(i, f.Unit))
		if i%32 == 0 {
			e.flush()
		}
	})
	f.Stay()
}

func measure(i, size int) measurement {
	m := measurement{frame.Touch(make([]byte, size))} // truth: allocates
	m.series[0] = byte(i)
	return m
}

func (e *exporter) add(m measurement) {
	e.batch = append(e.batch, m) // truth: keeps
	if over := len(e.batch) - e.most; e.most > 0 && over > 0 {
		e.batch = append(e.batch[:0:0], e.batch[over:]...)
		e.dropped += over
	}
}

// flush sends the batch; where that fails, the next flush sends more.
func (e *exporter) flush() {
	if e.send(e.batch) == nil {
		e.batch = nil
	}
}
