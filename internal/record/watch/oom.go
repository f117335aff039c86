package watch

import (
	"errors"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// oomClaim is how long a kill waits for its victim to come to its end, before it
// is told without a name.
const oomClaim = 500 * time.Millisecond

// oomCount is the cgroup's counter of OOM kills as far as it has been told.
type oomCount struct {
	known bool
	told  uint64
	since time.Time // when it was first seen to exceed told
}

// readOOMKills sets what counts as already told. The caller holds the lock, or
// has the source for itself.
func (s *Source) readOOMKills() {
	if c := s.readGroup(); c != nil && c.Events != nil {
		s.oom = oomCount{known: true, told: c.Events.OOMKill}
		s.account.levels, _ = s.account.home.Limits()
	}
}

// noticeOOM makes an event of a counter that grew: of the victim, which is at its
// end, or, if the victim's key is zero, of nobody once no victim has come for it.
func (s *Source) noticeOOM(c *sample.Cgroup, victim sample.ProcessKey, now time.Time) {
	if c == nil || c.Events == nil || !s.oom.known || c.Events.OOMKill <= s.oom.told {
		return
	}
	if victim == (sample.ProcessKey{}) && !s.ended {
		if s.oom.since.IsZero() {
			s.oom.since = now
		}
		if now.Sub(s.oom.since) < oomClaim {
			return
		}
	}
	grown := c.Events.OOMKill - s.oom.told
	s.oom.told, s.oom.since = c.Events.OOMKill, time.Time{}
	e := sample.Event{At: now, Kind: sample.EventOOMKill, Process: victim, Value: int64(grown)}
	if victim == (sample.ProcessKey{}) && s.killedBeside() {
		e.Kind = sample.EventOOMBeside
		s.event(e)
		s.gap(sample.ProcessKey{}, "why the kernel killed another program in the cgroup for its memory", errors.New(sample.WhyBeside))
		return
	}
	s.tellLimit(now)
	s.event(e)
}

// killedBeside says of a kill that no victim of ours came for, whether it was that of a
// program which only shares the cgroup: one of ours that is killed is held, as a rule.
func (s *Source) killedBeside() bool {
	shares := s.account.members != nil || s.opts.Group == nil
	killed := s.over && (!s.exit.OK || s.exit.V.Signal == int(syscall.SIGKILL))
	return shares && !killed
}
