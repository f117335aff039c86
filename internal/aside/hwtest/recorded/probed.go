package recorded

import (
	"math/rand/v2"
	"time"

	"github.com/highwater-go/highwater/internal/measure/latency"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Probed is a run of two minutes with 20 requests a second; wait says how long the
// program makes one wait that is due then.
func Probed(wait func(at float64) time.Duration, marks []latency.Stretch) *latency.Run {
	run := &latency.Run{Probe: "GET http://127.0.0.1:8080/", Recorded: 2400, Start: Began, Marks: marks}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 2400 {
		at := float64(i) / 20
		r := sample.Request{Due: Began.Add(seconds(at)), Took: time.Millisecond + time.Duration(rng.IntN(1000))*time.Microsecond, Status: 200}
		r.Took += wait(at)
		run.Requests = append(run.Requests, r)
	}
	return run
}

// Every are stretches of a length each so many seconds.
func Every(step, length, shift float64) (list []latency.Stretch) {
	for at := shift; at < 120; at += step {
		list = append(list, latency.Stretch{From: at, To: at + length})
	}
	return list
}

// Until is a wait to the end of the stretch that an instant lies in.
func Until(list []latency.Stretch) func(at float64) time.Duration {
	return func(at float64) time.Duration {
		for _, s := range list {
			if at >= s.From && at < s.To {
				return seconds(s.To - at)
			}
		}
		return 0
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
