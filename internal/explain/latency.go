package explain

import (
	"math"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/sample"
)

// Latency is how long the program's answers took. Durations are nanoseconds, of
// requests that were due at fixed times, from when they were due.
type Latency struct {
	Probe    string  `json:"probe"`
	Requests int     `json:"requests"` // timed, those without an answer too: their latency is that or more
	Recorded int64   `json:"recorded"` // more than that, where a long recording was thinned to be read
	NoAnswer int     `json:"no_answer"`
	Failed   int     `json:"failed"` // not timed
	PerSec   float64 `json:"requests_per_second"`

	// The percentiles by the nearest rank; nil where fewer than 100, 1,000 requests
	// tell of them.
	P50  int64  `json:"p50_ns"`
	P90  int64  `json:"p90_ns"`
	P99  *int64 `json:"p99_ns"`
	P999 *int64 `json:"p999_ns"`
	Max  int64  `json:"max_ns"`

	Histogram []LatencyBucket `json:"histogram"` // without empty ends
	Course    []LatencyStep   `json:"course"`
	Failures  []Failure       `json:"failures"` // most first
	Slow      Slow            `json:"slow"`
	Sentence  string          `json:"sentence"`

	p10, p95 int64
}

// LatencyBucket counts the requests that took From or longer, and less than To.
type LatencyBucket struct {
	From     int64 `json:"from_ns"`
	To       int64 `json:"to_ns"`
	Requests int   `json:"requests"`
}

// LatencyStep is a part of the run. P50 and Max are nil where no request was due.
type LatencyStep struct {
	At       float64 `json:"at_seconds"`
	Requests int     `json:"requests"`
	P50      *int64  `json:"p50_ns"`
	Max      *int64  `json:"max_ns"`
}

// Failure is why requests had no answer, other than that they waited too long.
type Failure struct {
	Why      string `json:"why"`
	Requests int    `json:"requests"`
}

// courseSteps is how many parts a run is shown in.
const courseSteps = 20

// latencyOf is nil where no request was timed or failed.
func latencyOf(c *Case) *Latency {
	list := c.Asked.Requests
	if len(list) == 0 {
		return nil
	}
	l := &Latency{Probe: c.Asked.Probe, Recorded: c.Asked.All, Histogram: []LatencyBucket{}, Course: []LatencyStep{}, Failures: []Failure{}}
	var took []int64
	for _, r := range list {
		switch {
		case !r.Timed():
			l.Failed++
			l.fail(r.Failure)
			continue
		case r.Failure != "":
			l.NoAnswer++
		}
		took = append(took, int64(r.Latency()))
	}
	slices.SortStableFunc(l.Failures, func(a, b Failure) int { return b.Requests - a.Requests })
	slices.Sort(took)
	l.Requests = len(took)
	if length := list[len(list)-1].Due.Sub(list[0].Due).Seconds(); length > 0 {
		l.PerSec = float64(len(list)-1) / length
	}
	if len(took) > 0 {
		l.measure(took)
		l.Course = c.latencyCourse(list)
		l.Slow = c.slowRequests(list, l)
	}
	l.Slow.Causes = append([]Tie{}, l.Slow.Causes...)
	l.Sentence = c.slowWords(l)
	return l
}

func (l *Latency) fail(why string) {
	for i := range l.Failures {
		if l.Failures[i].Why == why {
			l.Failures[i].Requests++
			return
		}
	}
	if len(l.Failures) < 10 {
		l.Failures = append(l.Failures, Failure{why, 1})
	}
}

// measure fills in what sorted latencies say.
func (l *Latency) measure(took []int64) {
	l.p10, l.p95 = nearestRank(took, 0.1), nearestRank(took, 0.95)
	l.P50, l.P90, l.Max = nearestRank(took, 0.5), nearestRank(took, 0.9), took[len(took)-1]
	if len(took) >= 100 {
		p := nearestRank(took, 0.99)
		l.P99 = &p
	}
	if len(took) >= 1000 {
		p := nearestRank(took, 0.999)
		l.P999 = &p
	}
	for from, step := firstBucket(took[0]), 0; from <= l.Max; step++ {
		to := nextBucket(from)
		first, _ := slices.BinarySearch(took, from)
		end, _ := slices.BinarySearch(took, to)
		l.Histogram = append(l.Histogram, LatencyBucket{from, to, end - first})
		from = to
	}
}

// nearestRank is the value that the share of sorted values does not exceed.
func nearestRank(sorted []int64, share float64) int64 {
	rank := int(math.Ceil(share*float64(len(sorted)) - 1e-9))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// firstBucket is the greatest bound of 1, 2, 5, 10, ... microseconds that is no more
// than a latency; 0 below one.
func firstBucket(ns int64) int64 {
	at := int64(0)
	for nextBucket(at) <= ns {
		at = nextBucket(at)
	}
	return at
}

// nextBucket is the bound after one.
func nextBucket(from int64) int64 {
	if from == 0 {
		return int64(time.Microsecond)
	}
	lead := from
	for lead >= 10 {
		lead /= 10
	}
	if lead == 2 {
		return from / 2 * 5
	}
	return from * 2
}

// latencyCourse divides the run.
func (c *Case) latencyCourse(list []sample.Request) []LatencyStep {
	first, last := c.seconds(list[0].Due), c.seconds(list[len(list)-1].Due)
	width := (last - first) / courseSteps
	if width <= 0 {
		return []LatencyStep{}
	}
	steps := make([]LatencyStep, courseSteps)
	took := make([][]int64, courseSteps)
	for _, r := range list {
		if r.Timed() {
			i := min(courseSteps-1, int((c.seconds(r.Due)-first)/width))
			took[i] = append(took[i], int64(r.Latency()))
		}
	}
	for i := range steps {
		steps[i] = LatencyStep{At: first + float64(i)*width, Requests: len(took[i])}
		if len(took[i]) > 0 {
			slices.Sort(took[i])
			median, most := nearestRank(took[i], 0.5), took[i][len(took[i])-1]
			steps[i].P50, steps[i].Max = &median, &most
		}
	}
	return steps
}
