package probe

import (
	"slices"
	"sync"
	"time"
)

// slowest is the lowest rate, in requests a second.
const slowest = 0.1

// remembered is how many answers the pace is judged by.
const remembered = 32

// schedule says when requests are due: at a rate that depends on what answers
// take in general, and never on a single one.
type schedule struct {
	slower func(rate float64, median time.Duration)

	mu   sync.Mutex
	due  time.Time
	rate float64
	took []time.Duration // of the last answers, remembered of them at most
}

func newSchedule(start time.Time, rate float64, slower func(float64, time.Duration)) *schedule {
	return &schedule{slower: slower, due: start, rate: max(rate, slowest)}
}

// next is when the next request is due; it may be as long ago as a request is
// waited for. Longer ago it was we who stood still, and nothing was due then.
func (s *schedule) next(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.due) > 2*patience {
		s.due = now
	}
	due := s.due
	s.due = due.Add(time.Duration(float64(time.Second) / s.rate))
	return due
}

// answered learns what an answer took. Where the median of them is such that more
// than one of the two connections would be busy all the time, the rate is halved
// until it is not: else requests would queue up for want of connections, and their
// wait would be ours and not the server's.
func (s *schedule) answered(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = append(s.took, took)
	if len(s.took) < remembered {
		return
	}
	slices.Sort(s.took)
	median := s.took[len(s.took)/2]
	s.took = s.took[:0]
	before := s.rate
	for median.Seconds()*s.rate > 1 && s.rate > slowest {
		s.rate = max(s.rate/2, slowest)
	}
	if s.rate < before && s.slower != nil {
		s.slower(s.rate, median)
	}
}
