package watch

import (
	"errors"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Two seconds after it killed for memory the kernel frees what the victim has, held or not (mm/oom_kill.c,
// OOM_REAPER_DELAY). Where Highwater did not get to run until then, what it reads is of nobody: of 60 MiB at the
// kill, 0.3 MiB. Such a moment is not kept.
var errFreed = errors.New("the kernel freed it 2 s after the kill, and on this busy machine highwater did not get to run before")

const (
	freedPart  = 8              // what is left of a process is below this part of what it had
	freedLeast = 8 * sample.MiB // the kernel's counters of less can be far off (lib/percpu_counter.c)
)

// tellFreed tells of a kill whose memory was not read in time. Where none of its moments was read
// before, that of its end is kept without a figure: an answer needs one.
func (s *Source) tellFreed(p *process, pm sample.ProcessMoment) {
	s.gap(p.key, sample.GapKill, errFreed)
	if !p.kept {
		bare := sample.ProcessMoment{Key: pm.Key, Signal: pm.Signal, Incomplete: errFreed.Error()}
		s.keepMoment(&sample.Moment{At: time.Now(), Kind: sample.MomentDeath, Processes: []sample.ProcessMoment{bare}}, []*process{p})
	}
}

// freedBefore reports whether the memory of a process that was killed had been freed before it was looked at; now is
// its resident set. A program that gave its memory back by itself can be read. The caller holds the lock.
func (s *Source) freedBefore(p *process, now *sample.Resident) bool {
	had := p.resident.Anon()
	if now == nil || had < freedLeast || now.Anon() >= had/freedPart {
		return false
	}
	var r sample.Runtime
	return p.stats == nil || p.stats.Counters(&r) != nil
}

// freedMeanwhile reports whether the memory of a process that was killed was freed between its figures and its pages:
// it does nothing any more by itself.
func freedMeanwhile(pm *sample.ProcessMoment) bool {
	if pm.Signal != int(syscall.SIGKILL) || pm.Resident == nil || pm.Residency == nil {
		return false
	}
	had := pm.Resident.Anon()
	return had >= freedLeast && pm.Residency.Anon < had/2
}
