package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/container"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// change is a level at a kill, and as it was at the kill before.
type change struct{ was, now cgroup.Level }

// killed says that the kernel counted a kill for this level's limit.
func (c change) killed() bool {
	return c.bothSeen() && c.now.Local.OOM.OK && c.now.Local.OOM.V > c.was.Local.OOM.V
}

// full says that the charge is at the limit, of which dropped bytes were given back: version 1 does not count kills by
// level.
func (c change) full(dropped sample.Bytes) bool {
	l := c.now
	if l.Local != nil && l.Local.OOM.OK || !l.Limit.OK || !l.Usage.OK {
		return false
	}
	return l.Usage.V+dropped+max(stock, l.Limit.V/16) >= l.Limit.V
}

// met says that the charge has met the limit since, though the victim's memory is gone already.
func (c change) met() bool {
	return c.bothSeen() && c.now.Limit.OK && c.now.Local.Max > c.was.Local.Max
}

func (c change) bothSeen() bool { return c.was.Local != nil && c.now.Local != nil }

// changes are the levels, innermost first, since the last time that they were asked for.
func (a *account) changes() (all []change) {
	before := a.levels
	now, err := a.home.Limits()
	if err != nil { // its files are those of the dying process, whose root is gone already
		now = a.atHand()
	}
	a.levels = now
	for _, l := range now {
		c := change{now: l}
		if i := slices.IndexFunc(before, func(was cgroup.Level) bool { return was.Path == l.Path }); i >= 0 {
			c.was = before[i]
		}
		all = append(all, c)
	}
	return all
}

// struck is the level whose limit the charge has met at a kill, by what is counted
// since the last one, the surest sign first; ok is false where it was none that can be seen.
func (a *account) struck() (at cgroup.Level, ok bool) {
	all := a.changes()
	full := func(c change) bool { return c.full(a.dropped) }
	for _, sign := range []func(change) bool{change.killed, full, change.met} {
		if i := slices.IndexFunc(all, sign); i >= 0 {
			return all[i].now, true
		}
	}
	if last := len(all) - 1; a.hidden.OK && last >= 0 && all[last].now.Path == "" {
		return all[last].now, true
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
