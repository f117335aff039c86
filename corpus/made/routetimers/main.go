// Routetimers measures how long requests take, by rcrowley/go-metrics, with a timer for
// each path. A path has the number of its order in it, and so each order brings timers
// of its own; a meter says of itself that it must be stopped to be let go. Repaired, the
// number is a placeholder.
package main

import (
	"fmt"
	"hash/crc32"
	"log"
	"strings"
	"time"

	"github.com/rcrowley/go-metrics"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// timerBytes is what a timer takes, with its samples.
const timerBytes = 2 << 10

var steps = []string{"items", "address", "payment", "invoice", "delivery", "status"}

type api struct {
	timers   metrics.Registry
	orders   [][]byte // 14 MiB: the newest
	repaired bool
	sum      uint32
}

func main() {
	f := frame.Parse()
	a := &api{timers: metrics.NewRegistry(), repaired: f.Repaired}
	for range 14 << 20 / (8 << 10) {
		a.orders = append(a.orders, frame.Touch(make([]byte, 8<<10)))
	}
	paths := max(1, f.Unit/timerBytes)
	f.Each(func(i int) {
		for n := range paths {
			a.serve(fmt.Sprintf("/orders/%d/%s", i*paths+n, steps[n%len(steps)]), i+n)
		}
	})
	if names := 0; f.Repaired {
		a.timers.Each(func(string, any) { names++ })
		log.Printf("%d paths are measured", names)
	}
	f.Stay()
}

// serve answers the requests of one page: some dozens to one path.
func (a *api) serve(path string, n int) {
	timer := a.timer(path)
	for try := range 64 {
		began := time.Now()
		order := a.orders[(n+try)%len(a.orders)]
		a.sum ^= crc32.ChecksumIEEE(order[:256])
		timer.Update(time.Since(began))
	}
}

func (a *api) timer(path string) metrics.Timer {
	name := "latency." + path
	if a.repaired {
		parts := strings.Split(path, "/")
		name = "latency." + parts[len(parts)-1]
	}
	return a.timers.GetOrRegister(name, newTimer).(metrics.Timer) // truth: keeps
}

func newTimer() metrics.Timer {
	samples := metrics.NewExpDecaySample(64, 0.015)                                  // truth: allocates
	return metrics.NewCustomTimer(metrics.NewHistogram(samples), metrics.NewMeter()) // truth: allocates
}
