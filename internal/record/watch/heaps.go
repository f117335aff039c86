package watch

import (
	"context"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// GoPrograms are the programs that run now and whose runtime can be read, in the
// order in which they came.
func (s *Source) GoPrograms() (all []sample.Program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.order {
		if s.running(p) && p.runtime != nil {
			all = append(all, p.program)
		}
	}
	return all
}

// WhileFrozen stops a program that is watched for as long as look takes, but no
// longer than limit, and returns for how long it stood (lastbreath.WhileFrozen).
// look must not call the Source.
func (s *Source) WhileFrozen(pid int, limit time.Duration, look func(context.Context, *lastbreath.Freeze) error) (time.Duration, error) {
	return s.tracer.WhileFrozen(pid, limit, look)
}

// OnDying has hook called while a Go program is held at its death, once all else has
// been read of it but what was live, which is marked in the time that hook leaves. It
// must not call the Source.
func (s *Source) OnDying(hook func(sample.Program, lastbreath.Death)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dyingHook = hook
}

// tellDying calls the hook. The caller holds the lock.
func (s *Source) tellDying(p *process, d lastbreath.Death) {
	if s.dyingHook != nil && p.runtime != nil {
		s.dyingHook(p.program, d)
	}
}
