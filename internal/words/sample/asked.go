package sample

import "time"

// Request is one that highwater made of a program to see how long an answer
// takes. It was due at a time that did not depend on the answers before it.
type Request struct {
	Due    time.Time
	Waited time.Duration // from Due until it was sent: every connection was busy
	Took   time.Duration // from then until its answer was read, or until it failed
	Status int           // of HTTP; 0: none
	// Failure says why there was no answer; "" where there was one.
	Failure string
}

// NoAnswer is the Failure of a request that nobody answered for as long as the
// probe waits, or that could not even be sent for so long: its latency is that or
// more.
const NoAnswer = "no answer in time"

// longestWait bounds each part of a latency, 11 years: a recording may hold anything, and
// sums and doublings of it must not overflow.
const longestWait = 100_000 * time.Hour

// Latency is what a user of the program would have waited.
func (r Request) Latency() time.Duration {
	return min(max(r.Waited, 0), longestWait) + min(max(r.Took, 0), longestWait)
}

// Timed says whether Latency is a latency: the program's answer took so long, or
// at least so long. How long an error took says nothing of it.
func (r Request) Timed() bool { return r.Failure == "" || r.Failure == NoAnswer }

// FigureKind says how a Figure moves.
type FigureKind string

// The kinds. A counter only rises while its program lives.
const (
	CounterKind FigureKind = "counter"
	GaugeKind   FigureKind = "gauge"
)

// Figure is a number that a program publishes about its own work, at one instant.
type Figure struct {
	At    time.Time
	Name  string
	Kind  FigureKind
	Value float64
}
