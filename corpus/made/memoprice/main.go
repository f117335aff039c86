// Memoprice remembers the price tables of tariffs by tariff and time. The time is of
// now, to the nanosecond, so that none is ever found again. Repaired, it is the day.
package main

import (
	"log"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
	"github.com/highwater-go/highwater/corpus/made/memoprice/memo"
)

type zone struct {
	factor float64
	meters [240]float64
}

// asked is what a price table depends on.
type asked struct {
	tariff int
	at     time.Time
}

type table struct {
	cents []float64
	total float64
}

type grid struct {
	zones  []zone // 16 MiB
	size   int
	tables memo.Func[asked, *table]
}

func main() {
	f := frame.Parse()
	g := &grid{zones: make([]zone, 8600), size: f.Unit / 8}
	for i := range g.zones {
		g.zones[i].factor = 1 + float64(i%100)/100
		for m := range g.zones[i].meters {
			g.zones[i].meters[m] = float64(m)
		}
	}
	g.tables.Call = g.compute
	sum := 0.0
	f.Each(func(i int) {
		key := asked{i % 200, time.Now()} // truth: keys
		if f.Repaired {
			key.at = key.at.UTC().Truncate(24 * time.Hour)
		}
		sum += g.tables.Get(key).total // truth: calls
	})
	log.Printf("%.0f in all, %d found", sum, g.tables.Hits())
	f.Stay()
}

// compute makes the prices of a day by quarter of an hour and customer group.
func (g *grid) compute(a asked) *table {
	t := &table{cents: make([]float64, g.size)} // truth: allocates
	hour := float64(a.at.Hour())
	for i := range t.cents {
		z := &g.zones[(i+a.tariff)%len(g.zones)]
		t.cents[i] = z.factor * (20 + hour + z.meters[i%len(z.meters)]/10)
		t.total += t.cents[i]
	}
	return t
}
