package app

import (
	"context"
	"time"

	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// calm is what an agent has of a program that rests, in memory, until there is something that a recording is worth:
// a death, a program that moves, that is close to its limit, or that has grown much since it was first seen. It is a
// capture.Sink, and the recording's from then on.
type calm struct {
	*life
	meta  recording.Meta
	ring  *recording.Ring // nil: there is a recording
	sink  probeSink
	since time.Time    // when it was first seen
	first sample.Bytes // anonymous memory, the most of its first minute
}

// A program that has grown by so much, and by a quarter, after its beginning has a recording: a leak is explained by
// its course.
const (
	calmGrowth = 16 * sample.MiB
	calmBegins = time.Minute
)

// sink is where what an agent sees of a program goes: into rows, and into a recording as soon as that is worth it.
func (a *agent) sink(l *life) capture.Sink {
	l.rows = a.begin(l)
	l.calm.ring = recording.NewRing(l.rows.SitesOf)
	return capture.Both(l.calm, l.rows.Life)
}

// keep hands one thing on; record says that it is worth a recording by itself.
func (c *calm) keep(record bool, give func(capture.Sink) error) error {
	if c.ring != nil && (record || c.ring.Moves()) {
		if err := c.record(); err != nil {
			return err
		}
	}
	if c.ring != nil {
		return give(c.ring)
	}
	return give(c.sink)
}

// record begins the recording, with what was seen so far.
func (c *calm) record() error {
	ring := c.ring
	c.ring = nil
	if err := c.create(c.meta); err != nil {
		return cannotRecord(err)
	}
	c.sink = probeSink{c.recording.writer, c.probing}
	c.agent.keepWhose(c.life, c.rows)
	return ring.WriteTo(c.recording.writer)
}

// end begins the recording of a program that has ended, or that is close to its limit as the agent ends.
func (c *calm) end(ctx context.Context) {
	over := c.rows.OfLimit() >= fleet.NearLimit
	select {
	case <-c.source.Done():
		over = true
	default:
	}
	if c.ring == nil || !over && ctx.Err() != nil {
		return
	}
	if err := c.record(); err != nil {
		c.status.say("highwater: the recording of %s: %v", c.what, err)
	}
}

// endOfRest is the end of a watch without a recording.
func (a *agent) endOfRest(l *life) {
	select {
	case <-l.source.Done():
		a.report(l, fleet.Died(time.Now(), l.name+" ended; its recording could not be made."))
	default:
	}
}

// Program begins a recording where a process becomes another program: its sites are those of the one before.
func (c *calm) Program(p sample.Program) error {
	return c.keep(c.ring != nil && c.ring.Runs(p.Key), func(s capture.Sink) error { return s.Program(p) })
}

func (c *calm) Sites(key sample.ProcessKey, first int, sites []sample.Site) error {
	return c.keep(false, func(s capture.Sink) error { return s.Sites(key, first, sites) })
}

func (c *calm) Point(p *sample.Point) error {
	if c.ring != nil && c.probing.heaps != nil {
		c.probing.heaps.see(p)
	}
	return c.keep(c.isNear(p) || c.hasGrown(p) || c.hasEnded(p), func(s capture.Sink) error { return s.Point(p) })
}

// isNear says whether little room is left below the limit.
func (c *calm) isNear(p *sample.Point) bool {
	g := p.Cgroup
	return g != nil && g.Limit.OK && float64(g.Usage) >= fleet.NearLimit*float64(g.Limit.V)
}

// hasEnded says whether a process is gone whose sites are known, which they are until its last point.
func (c *calm) hasEnded(p *sample.Point) bool {
	for _, one := range p.Processes {
		if c.ring != nil && one.Resident == nil && c.ring.Runs(one.Key) {
			return true
		}
	}
	return false
}

// hasGrown says whether all processes have much more than at first.
func (c *calm) hasGrown(p *sample.Point) bool {
	sum := sample.Bytes(0)
	for _, one := range p.Processes {
		if one.Resident != nil {
			sum += one.Resident.Anon()
		}
	}
	if c.since.IsZero() {
		c.since = p.At
	}
	if p.At.Sub(c.since) < calmBegins {
		c.first = max(c.first, sum)
	}
	return sum > c.first+max(calmGrowth, c.first/4)
}

func (c *calm) Cycle(g sample.GCCycle) error {
	return c.keep(false, func(s capture.Sink) error { return s.Cycle(g) })
}

// Event of a kill is worth a recording.
func (c *calm) Event(e sample.Event) error {
	killed := e.Kind == sample.EventOOMKill || e.Kind == sample.EventOOM
	return c.keep(killed, func(s capture.Sink) error { return s.Event(e) })
}

func (c *calm) Gap(g sample.Gap) error {
	return c.keep(false, func(s capture.Sink) error { return s.Gap(g) })
}

func (c *calm) Heap(key sample.ProcessKey, p *sample.HeapProfile) error {
	return c.keep(false, func(s capture.Sink) error { return s.Heap(key, p) })
}

// Moment of a death or of fast growth is worth a recording.
func (c *calm) Moment(m *sample.Moment) error {
	rests := m.Kind == sample.MomentCalm || m.Kind == sample.MomentMax || m.Kind == sample.MomentEnd
	return c.keep(!rests, func(s capture.Sink) error { return s.Moment(m) })
}

// Growth is what made resident memory grow.
func (c *calm) Growth(list []sample.ResidentGrowth) error {
	return c.keep(false, func(s capture.Sink) error { return s.(capture.GrowthSink).Growth(list) })
}

// Native is C's live blocks by stack.
func (c *calm) Native(head sample.NativeReading, list []sample.NativeLive) error {
	return c.keep(false, func(s capture.Sink) error { return s.(capture.NativeSink).Native(head, list) })
}

func (c *calm) Flush() error {
	return c.keep(false, capture.Sink.Flush)
}
