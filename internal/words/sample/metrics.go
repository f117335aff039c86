package sample

import "time"

// RuntimeMetrics is what package runtime/metrics gives inside a program, read
// from outside under its names and in its units ("/memory/classes/heap/free:bytes").
// It is the whole account, for moments; Runtime is the part for every tick.
type RuntimeMetrics struct {
	At         time.Time
	Values     []Metric    // in the order of their names
	Histograms []Histogram // in the order of their names
	// Missing is what runtime/metrics has in some version and cannot be had here.
	Missing []MissingMetric
}

// Metric is one figure. Integers are exact up to 2^53.
type Metric struct {
	Name  string
	Value float64
}

// Histogram counts events by size: Counts[i] are from Bounds[i] on and below
// Bounds[i+1]. Bounds is shared and not to be changed.
type Histogram struct {
	Name   string
	Bounds []float64
	Counts []uint64
}

// MissingMetric is a figure that could not be read, and why.
type MissingMetric struct {
	Name, Why string
	// Refused means that the program's version of Go has it, but where it lies is not sure.
	Refused bool
}

// Get is the figure of that name; ok is false if it was not read.
func (m *RuntimeMetrics) Get(name string) (value float64, ok bool) {
	for _, v := range m.Values {
		if v.Name == name {
			return v.Value, true
		}
	}
	return 0, false
}
