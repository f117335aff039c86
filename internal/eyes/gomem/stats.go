package gomem

import "fmt"

// The features of Stats, beside the goroutines of package gomem.
const (
	FeatureCounters Feature = "counters"
	FeatureMetrics  Feature = "runtime metrics"
	FeatureProfile  Feature = "heap profile"
)

// Stats reads what the runtime of one process accounts. Its methods are not safe for
// concurrent use, nor beside those of its Runtime.
type Stats struct {
	r   *Runtime
	why map[Feature]error

	counters counterReader
	glance   glance
	metrics  metricReader
	profile  profileReader
	groups   groupReader
}

// NewStats finds what r accounts. What cannot be had is said by Why.
func NewStats(r *Runtime) *Stats {
	s := &Stats{r: r, why: make(map[Feature]error)}
	for _, f := range []struct {
		feature Feature
		attach  func(*Stats, *resolver) error
	}{
		{FeatureCounters, s.counters.attach},
		{FeatureMetrics, s.metrics.attach},
		{FeatureProfile, s.profile.attach},
		{FeatureGoroutines, s.groups.attach},
	} {
		find, err := r.resolve()
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
func (s *Stats) Why(f Feature) error { return s.why[f] }
