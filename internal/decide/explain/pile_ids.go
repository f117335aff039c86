package explain

import (
	"fmt"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// lookAtIDs is a look before the moment at the goroutines of which numbers are known.
type lookAtIDs struct {
	at     time.Time
	groups []sample.GoroutineGroup
}

// withNumbers are the groups of which numbers are known.
func withNumbers(groups []sample.GoroutineGroup) (out []sample.GoroutineGroup) {
	for _, g := range groups {
		if g.IDs != nil {
			out = append(out, g)
		}
	}
	return out
}

// oldestOf are the lowest numbers of the goroutines that wait where a pile does. A goroutine that begins later has a
// higher one.
func (p *pile) oldestOf(groups []sample.GoroutineGroup, module string) (ids []uint64) {
	for _, g := range groups {
		if g.State != "running" && waitsAt(g, module).Func == p.at.Func {
			ids = append(ids, g.IDs...)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), sample.MostIDs)]
}

// leavers is how many of the oldest goroutines that waited at a place at a look were gone from it at the moment.
type leavers struct {
	gone, of int
	at       float64 // of the look, in seconds since the start
}

func (t leavers) share() float64 { return float64(t.gone) / float64(t.of) }

// finish reports whether numbers tell that most of those that waited there have left the place.
func (p *pile) finish() bool { return p.followed && p.left.share() >= leftPlace.v() }

// leftWords say how many did.
func (p *pile) leftWords(c *Case) string {
	if p.left.gone == p.left.of {
		return fmt.Sprintf("the %d oldest goroutines that waited there %s after start were gone by the %s", p.left.of, seconds(p.left.at), c.momentName())
	}
	return fmt.Sprintf("of the %d oldest goroutines that waited there %s after start, %d were gone by the %s", p.left.of, seconds(p.left.at),
		p.left.gone, c.momentName())
}

// noneLeft reports whether numbers tell that none of the oldest left the place.
func (p *pile) noneLeft() bool { return p.followed && p.left.gone == 0 }

// whoLeft compares the looks of the rise with the moment, and keeps the one of which most were gone. ok
// is false where numbers were not read at both.
func (c *Case) whoLeft(p *pile) (most leavers, ok bool) {
	module := c.module()
	now := p.oldestOf(c.standing(p), module)
	if len(now) < sample.FewestNumbered {
		return most, false
	}
	for _, l := range c.Numbered {
		t := leavers{at: c.seconds(l.at)}
		if t.at < c.outcome.MomentElapsed-p.span || t.at >= c.outcome.MomentElapsed {
			continue
		}
		for _, id := range p.oldestOf(l.groups, module) {
			if id > now[len(now)-1] && len(now) == sample.MostIDs {
				break // it may be behind those that are known of the moment
			}
			if t.of++; !slices.Contains(now, id) {
				t.gone++
			}
		}
		if t.of >= sample.FewestNumbered && (!ok || t.share() > most.share()) {
			most, ok = t, true
		}
	}
	return most, ok
}
