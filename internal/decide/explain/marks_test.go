package explain

import (
	"math"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/measure/latency"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestRequestsThatTheProgramsEndBrokeAreLeftOut(t *testing.T) {
	at := func(s float64) time.Time { return began.Add(durationOf(s)) }
	got := whileItLived([]sample.Request{
		{Due: at(5), Took: time.Second},
		{Due: at(1), Took: time.Second},
		{Due: at(9), Took: 2 * time.Second, Failure: "the connection was closed"},
		{Due: at(9.5), Took: 2 * time.Second}, // answered while it shut down
		{Due: at(11), Failure: "nobody listens there"},
	}, at(10))
	if len(got) != 3 || !got[0].Due.Equal(at(1)) {
		t.Errorf("%+v", got)
	}
}

// A program with GOMAXPROCS of 2 whose marks took half a second each, ended at 5, 10
// and 15 s: two samples of each were within, at a tenth of a second apart.
func TestMarksAreFoundByPhaseAndByBookedTime(t *testing.T) {
	var b booked
	ends := []float64{5, 10, 15}
	for i := range 200 {
		now := float64(i) / 10
		phase, done := 0.0, 0.0
		for _, end := range ends {
			if now >= end-0.25 && now < end {
				phase = 1 // the samples before were missed
			}
			if now >= end {
				done++
			}
		}
		b.at, b.phase, b.cycles = append(b.at, now), append(b.phase, phase), append(b.cycles, done)
		b.dedicated, b.all = append(b.dedicated, done*0.25*2*0.5*1e9), append(b.all, done*5*2*1e9)
	}
	e := newScene().Evidence
	e.Cycles = nil
	for i, end := range ends {
		e.Cycles = append(e.Cycles, sample.GCCycle{At: e.Start.Add(durationOf(end)), N: uint32(i + 1)})
	}
	got := latency.United(marks(e, b))
	if len(got) != 3 {
		t.Fatalf("%v", got)
	}
	for i, m := range got {
		if math.Abs(m.To-ends[i]) > 1e-6 || m.From < ends[i]-0.5-1e-6 || m.From > ends[i]-0.2 {
			t.Errorf("mark %d: %v", i, m)
		}
	}
}
