package watch

import (
	"time"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// outliveFor is how long the first process of our PID namespace is held at its end, for
// what was seen of it to reach the disk.
const outliveFor = 500 * time.Millisecond

// outlive has a recording written before the process is let go with whose end the kernel
// kills us, too: the first one of the PID namespace, as that of a container which a
// sidecar has joined (kernel/pid_namespace.c, zap_pid_ns_processes). The caller does not
// hold the lock.
func (s *Source) outlive(d lastbreath.Death) {
	if d.PID != 1 {
		return
	}
	written := make(chan struct{})
	s.mu.Lock()
	if p := s.live[d.PID]; p != nil {
		s.tellExit(p, sample.Some(d.Status))
	}
	s.later(func(sink capture.Sink) error {
		defer close(written)
		return sink.Flush()
	})
	s.mu.Unlock()
	wait := outliveFor
	if !d.Deadline.IsZero() {
		wait = max(wait, time.Until(d.Deadline))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C:
	}
}
