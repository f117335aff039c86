// Package latency says how long a program's answers took, and whether the slow ones coincide with what
// could have made them wait: collections, stalls for memory, reclaim at the limit, highwater's own reads.
package latency

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
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

	Histogram []Bucket  `json:"histogram"` // without empty ends
	Course    []Step    `json:"course"`
	Failures  []Failure `json:"failures"` // most first
	Slow      Slow      `json:"slow"`
	Sentence  string    `json:"sentence"`

	p10, p95 int64
}

// Bucket counts the requests that took From or longer, and less than To.
type Bucket struct {
	From     int64 `json:"from_ns"`
	To       int64 `json:"to_ns"`
	Requests int   `json:"requests"`
}

// Step is a part of the run. P50 and Max are nil where no request was due.
type Step struct {
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

// Run is what was asked of a program, and what else went on then that could make it
// wait. Stretches are in seconds since Start, disjoint and ascending.
type Run struct {
	Probe    string           // what was asked: "GET http://127.0.0.1:8080/"
	Requests []sample.Request // by when they were due
	Recorded int64            // how many were; more than Requests where they were thinned
	Start    time.Time

	// Marks are the collector's, Stalls the times in which tasks waited for memory,
	// Reclaims those in which charges met the limit or pages came from the disk
	// again, Moments those in which highwater read much of the program.
	Marks, Stalls, Reclaims, Moments []Stretch
	// Assist is how many seconds of CPU time goroutines that allocated helped the
	// collector; NaN: not known.
	Assist float64
}

// Stretch is a time from one instant to another, in seconds.
type Stretch struct{ From, To float64 }

// United puts stretches in order and those that touch together.
func United(list []Stretch) []Stretch {
	sorting.Stable(list, func(a, b Stretch) int { return cmp.Compare(a.From, b.From) })
	var out []Stretch
	for _, s := range list {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

func (run *Run) seconds(t time.Time) float64 { return t.Sub(run.Start).Seconds() }

// courseSteps is how many parts a run is shown in.
const courseSteps = 20

// Of is nil where no request was timed or failed.
func Of(run *Run) *Latency {
	list := run.Requests
	if len(list) == 0 {
		return nil
	}
	l := &Latency{Probe: run.Probe, Recorded: run.Recorded, Histogram: []Bucket{}, Course: []Step{}, Failures: []Failure{}}
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
	sorting.Stable(l.Failures, func(a, b Failure) int { return b.Requests - a.Requests })
	slices.Sort(took)
	l.Requests = len(took)
	if length := list[len(list)-1].Due.Sub(list[0].Due).Seconds(); length > 0 {
		l.PerSec = float64(len(list)-1) / length
	}
	if len(took) > 0 {
		l.measure(took)
		l.Course = run.course(list)
		l.Slow = run.slowRequests(list, l)
	}
	l.Slow.Causes = append([]Tie{}, l.Slow.Causes...)
	l.Sentence = run.slowWords(l)
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
		l.Histogram = append(l.Histogram, Bucket{from, to, end - first})
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

// course divides the run.
func (run *Run) course(list []sample.Request) []Step {
	first, last := run.seconds(list[0].Due), run.seconds(list[len(list)-1].Due)
	width := (last - first) / courseSteps
	if width <= 0 {
		return []Step{}
	}
	steps := make([]Step, courseSteps)
	took := make([][]int64, courseSteps)
	for _, r := range list {
		if r.Timed() {
			i := min(courseSteps-1, int((run.seconds(r.Due)-first)/width))
			took[i] = append(took[i], int64(r.Latency()))
		}
	}
	for i := range steps {
		steps[i] = Step{At: first + float64(i)*width, Requests: len(took[i])}
		if len(took[i]) > 0 {
			slices.Sort(took[i])
			median, most := nearestRank(took[i], 0.5), took[i][len(took[i])-1]
			steps[i].P50, steps[i].Max = &median, &most
		}
	}
	return steps
}
