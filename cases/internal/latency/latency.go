// Package latency keeps the time that every request of a load took, and prints
// it as a table of percentiles and a histogram by decades.
//
// It keeps each duration, four bytes a request: percentiles are exact, and a
// rare slow request is not rounded into a bucket.
package latency

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// Log collects durations; its zero value is ready. Any number of goroutines
// may add to it.
type Log struct {
	mu     sync.Mutex
	micros []uint32 // up to 71 minutes; longer is cut to that
	failed int
}

// Add takes one request's duration. A failed one is counted, not timed: how
// long an error took says nothing of the service.
func (l *Log) Add(d time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed++
		return
	}
	l.micros = append(l.micros, uint32(min(max(d.Microseconds(), 0), math.MaxUint32)))
}

// Report is what a Log holds, sorted, at one moment.
type Report struct {
	Elapsed time.Duration // of the whole load
	Failed  int
	sorted  []uint32
}

// Report sorts what was added until now.
func (l *Log) Report(elapsed time.Duration) Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	sorted := slices.Clone(l.micros)
	slices.Sort(sorted)
	return Report{Elapsed: elapsed, Failed: l.failed, sorted: sorted}
}

// Count is the number of requests that succeeded.
func (r Report) Count() int { return len(r.sorted) }

// Percentile is the duration that p percent of the requests did not exceed, by
// the nearest rank. It is 0 when there was none.
func (r Report) Percentile(p float64) time.Duration {
	if len(r.sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(r.sorted))))
	return micros(r.sorted[min(max(rank, 1), len(r.sorted))-1])
}

// Max is the longest request.
func (r Report) Max() time.Duration { return r.Percentile(100) }

// Over counts the requests that took d or longer.
func (r Report) Over(d time.Duration) int {
	at, _ := slices.BinarySearch(r.sorted, uint32(d.Microseconds()))
	return len(r.sorted) - at
}

// Write prints the report.
func (r Report) Write(w io.Writer, what string) {
	rate := 0.0
	if r.Elapsed > 0 {
		rate = float64(r.Count()) / r.Elapsed.Seconds()
	}
	fmt.Fprintf(w, "%s: %d in %s (%.0f a second), %d failed\n", what, r.Count(), r.Elapsed.Round(time.Millisecond), rate, r.Failed)
	if r.Count() == 0 {
		return
	}
	r.percentiles(w)
	r.histogram(w)
}

func (r Report) percentiles(w io.Writer) {
	for _, p := range []float64{50, 90, 95, 99, 99.5, 99.9} {
		fmt.Fprintf(w, "%9s", fmt.Sprintf("p%g", p))
	}
	fmt.Fprintf(w, "%9s\n", "max")
	for _, p := range []float64{50, 90, 95, 99, 99.5, 99.9, 100} {
		fmt.Fprintf(w, "%9s", short(r.Percentile(p)))
	}
	fmt.Fprintln(w)
}

// histogram has a row for each decade from the fastest request to the slowest.
func (r Report) histogram(w io.Writer) {
	const width = 40
	for lower := decade(r.sorted[0]); lower <= r.Max(); lower *= 10 {
		n := r.Over(lower) - r.Over(10*lower)
		bar := strings.Repeat("#", (n*width+r.Count()-1)/r.Count())
		fmt.Fprintf(w, "%7s - %-7s %-*s %d (%.2f%%)\n", short(lower), short(10*lower), width, bar, n, 100*float64(n)/float64(r.Count()))
	}
}

// decade is the power of ten of microseconds at or below m.
func decade(m uint32) time.Duration {
	d := time.Microsecond
	for 10*d <= micros(m) {
		d *= 10
	}
	return d
}

func micros(m uint32) time.Duration { return time.Duration(m) * time.Microsecond }

// short prints three digits: 873µs, 1.27ms, 12.4s.
func short(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond} {
		if d >= unit {
			return fmt.Sprintf("%.3g%s", float64(d)/float64(unit), map[time.Duration]string{time.Second: "s", time.Millisecond: "ms"}[unit])
		}
	}
	return fmt.Sprintf("%dµs", d.Microseconds())
}
