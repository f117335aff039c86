package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/container"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// struck is the level whose limit the charge has met at a kill, by what is counted
// since the last one; ok is false where it was none that can be seen.
func (a *account) struck() (at cgroup.Level, ok bool) {
	before := a.levels
	now, err := a.home.Limits()
	if err != nil { // its files are those of the dying process, whose root is gone already
		now = a.atHand()
	}
	a.levels = now
	for i, l := range now {
		if i < len(before) && l.Local != nil && before[i].Local != nil && l.Local.OOM.OK && l.Local.OOM.V > before[i].Local.OOM.V {
			return l, true
		}
	}
	for _, l := range now { // version 1 has no such counter
		if counted := l.Local != nil && l.Local.OOM.OK; !counted && l.Limit.OK && l.Usage.OK && l.Usage.V+a.dropped+max(stock, l.Limit.V/16) >= l.Limit.V {
			return l, true
		}
	}
	for i, l := range now { // the victim is gone already
		if i < len(before) && l.Limit.OK && l.Local != nil && before[i].Local != nil && l.Local.Max > before[i].Local.Max {
			return l, true
		}
	}
	if last := len(now) - 1; a.hidden.OK && last >= 0 && now[last].Path == "" {
		return now[last], true
	}
	return at, false
}

// atHand are the levels whose files are open, and the limit that holds and is not seen.
func (a *account) atHand() (levels []cgroup.Level) {
	for _, g := range []*cgroup.Cgroup{a.home, a.group} {
		var c sample.Cgroup
		if g.Read(&c) == nil {
			levels = append(levels, cgroup.Level{Path: g.Path, Limit: c.Limit, Usage: sample.Some(c.Usage), Local: c.Events})
		}
	}
	if a.hidden.OK {
		levels = append(levels, cgroup.Level{Limit: a.hidden})
	}
	return levels
}

// stock is by how much a charge may fall short of its limit at a kill: what the kernel
// keeps for each processor (mm/memcontrol.c, MEMCG_CHARGE_BATCH), and what the dying
// process has given back meanwhile.
const stock = 4 * sample.MiB

// tellLimit tells whose limit a kill was for, where that is known.
func (s *Source) tellLimit(now time.Time) {
	if s.account.home == nil {
		return
	}
	if l, ok := s.account.struck(); ok {
		whose := sample.LimitAbove
		if l.Path == s.account.home.Path {
			whose = sample.LimitOwn
		}
		kind := container.OfNothing
		if ours := s.opts.Group != nil && s.opts.Group.Made() && l.Path == s.opts.Group.Path; l.Path != "" && !ours {
			kind = container.KindOf(l.Path)
		}
		s.event(sample.Event{At: now, Kind: sample.EventOOM, Value: int64(l.Limit.V), Text: strings.TrimSpace(fmt.Sprintf("%s %s %s", whose, kind, l.Path))})
	}
}
