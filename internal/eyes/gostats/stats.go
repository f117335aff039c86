// Package gostats reads what the Go runtime of another process, or of a core file,
// accounts: its counters, the figures of runtime/metrics, its heap profile, and its
// goroutines by where they stand.
//
// Where the runtime's structures lie package gomem knows. Sampled counts are as they
// were sampled; who shows them scales them. It knows nothing of the heap's objects:
// what of a profile is still live is found by package goheap, which is given Stats for that.
package gostats

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// The features of Stats, beside the goroutines of package gomem.
const (
	FeatureCounters gomem.Feature = "counters"
	FeatureMetrics  gomem.Feature = "runtime metrics"
	FeatureProfile  gomem.Feature = "heap profile"
)

// Stats reads what the runtime of one process accounts. Its methods are not safe for
// concurrent use, nor beside those of its Runtime.
type Stats struct {
	r   *gomem.Runtime
	why map[gomem.Feature]error

	counters counterReader
	glance   glance
	metrics  metricReader
	profile  profileReader
	groups   groupReader
}

// New finds what r accounts. What cannot be had is said by Why.
func New(r *gomem.Runtime) *Stats {
	s := &Stats{r: r, why: make(map[gomem.Feature]error)}
	for _, f := range []struct {
		feature gomem.Feature
		attach  func(*Stats, *gomem.Resolver) error
	}{
		{FeatureCounters, s.counters.attach},
		{FeatureMetrics, s.metrics.attach},
		{FeatureProfile, s.profile.attach},
		{gomem.FeatureGoroutines, s.groups.attach},
	} {
		find, err := r.Resolve()
		if err == nil {
			err = f.attach(s, find)
		}
		if err != nil {
			s.why[f.feature] = fmt.Errorf("%s: %w", f.feature, err)
		}
	}
	return s
}

// Why says why a feature cannot be had, nil if it can. The feature's own method
// returns the same error.
func (s *Stats) Why(f gomem.Feature) error { return s.why[f] }
