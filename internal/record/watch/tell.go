package watch

import (
	"time"

	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Note adds an event of the caller's, at the present time.
func (s *Source) Note(e sample.Event) {
	e.At = time.Now()
	if !s.lock() {
		return // it hangs
	}
	defer s.mu.Unlock()
	s.event(e)
}

// Collect hands over what happened, in order.
func (s *Source) Collect(sink capture.Sink) error {
	s.mu.Lock()
	n := len(s.waiting)
	if s.ticked {
		n, s.ticked = s.beforeTick, false
	}
	waiting := s.waiting[:n:n]
	s.waiting = s.waiting[n:]
	if len(s.waiting) == 0 {
		s.waiting = nil
	}
	s.mu.Unlock()
	var first error
	for _, give := range waiting {
		if err := give(sink); first == nil {
			first = err
		}
	}
	return first
}

// later queues what Collect will hand over and wakes the loop.
func (s *Source) later(give func(capture.Sink) error) {
	s.waiting = append(s.waiting, give)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Source) event(e sample.Event) {
	s.later(func(sink capture.Sink) error { return sink.Event(e) })
}

// unread tells of something that could not be read of a process, unless that has
// ended or become another program meanwhile, which is told as that.
func (s *Source) unread(p *process, what string, err error) {
	if !p.isGone() {
		s.gap(p.key, what, err)
	}
}

// told is a gap that was told.
type told struct {
	key  sample.ProcessKey
	what string
}

// gap tells once of each process that something is not seen, with the first
// reason.
func (s *Source) gap(key sample.ProcessKey, what string, why error) {
	id := told{key, what}
	if s.gaps[id] || len(s.gaps) == maxGaps {
		return
	}
	s.gaps[id] = true
	g := sample.Gap{From: time.Now(), Process: key, What: what, Why: why.Error()}
	s.later(func(sink capture.Sink) error { return sink.Gap(g) })
}
