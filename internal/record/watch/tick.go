package watch

import (
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Tick reads the figures of one point.
func (s *Source) Tick(p *sample.Point, d capture.Depth) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Cgroup, p.Pressure, p.Host, p.Processes = nil, nil, nil, nil
	s.pauseFaults(p.At)
	s.drainFaults(p.At)
	s.drainNative(p.At)
	if d == capture.Dense && s.account.group != nil {
		s.denseTick(p)
		s.ticked, s.beforeTick = true, len(s.waiting)
		return nil
	}
	s.groupTick(p)
	if !p.At.Before(s.nextHost) {
		s.nextHost = p.At.Add(hostEvery)
		if d == capture.Resting {
			s.nextHost = p.At.Add(hostAtRest)
		}
		s.hostTick(p)
	}
	if !p.At.Before(s.nextScan) {
		s.scan(p.At)
	}
	s.points = s.points[:0]
	for _, proc := range s.order {
		if proc.held || !proc.tick() {
			continue
		}
		s.lookForLibrary(proc, p.At)
		s.attach(proc, p.At)
		pt := s.pointOf(proc, d == capture.Resting)
		if pt.Go != nil {
			s.cycle(proc, p.At)
		}
		s.points = append(s.points, pt)
	}
	p.Processes = s.points
	s.ticked, s.beforeTick = true, len(s.waiting)
	return nil
}

// attach tries to read a process's runtime, and tells what of it cannot be read.
func (s *Source) attach(p *process, now time.Time) {
	if !p.attach(now, s.opts.Room) {
		return
	}
	if p.attachErr != nil {
		s.unread(p, "the Go runtime of "+p.program.Name, p.attachErr)
		return
	}
	for _, f := range []gomem.Feature{gostats.FeatureCounters, gostats.FeatureProfile, gomem.FeatureGoroutines} {
		s.lacks(p, f, p.stats.Why(f))
	}
	s.lacks(p, gomem.FeatureRanges, p.runtime.Why(gomem.FeatureRanges))
	s.knowFaults(p)
	s.knowNative(p)
}

// lacks tells of what cannot be read of a runtime.
func (s *Source) lacks(p *process, f gomem.Feature, why error) {
	if why != nil {
		s.gap(p.key, string(f)+" of "+p.program.Name, why)
	}
}

// denseTick reads the charge alone.
func (s *Source) denseTick(p *sample.Point) {
	usage, err := s.account.group.ReadUsage()
	if err != nil {
		return
	}
	limit := s.cgroup.Limit
	s.cgroup = sample.Cgroup{Usage: usage, Limit: limit}
	p.Cgroup = &s.cgroup
}

func (s *Source) groupTick(p *sample.Point) {
	if s.account.group == nil {
		return
	}
	if err := s.account.read(&s.cgroup); err != nil {
		s.gap(sample.ProcessKey{}, "memory usage of the cgroup", err)
		return
	}
	p.Cgroup = &s.cgroup
	s.noticeOOM(&s.cgroup, sample.ProcessKey{}, p.At)
}

func (s *Source) hostTick(p *sample.Point) {
	if s.host.watcher == nil {
		return
	}
	memoryErr, pressureErr := s.host.read(p.At, &s.hostNow, &s.pressure)
	if memoryErr != nil {
		s.gap(sample.ProcessKey{}, "memory of the machine", memoryErr)
	} else {
		p.Host = &s.hostNow
	}
	if pressureErr != nil {
		s.gap(sample.ProcessKey{}, "memory pressure (PSI)", pressureErr)
	} else {
		p.Pressure = &s.pressure
	}
}

// cycle keeps a collection that ended, and hands it over later.
func (s *Source) cycle(p *process, now time.Time) {
	if c, ok := p.cycle(now); ok {
		s.later(func(sink capture.Sink) error { return sink.Cycle(c) })
	}
}

// Profile keeps the heap profile of every program that has one.
func (s *Source) Profile() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.doze.read = true
	for _, p := range s.order {
		if p.held || !p.alive {
			continue
		}
		if h := s.takeProfile(p, now); h != nil {
			s.giveSites(p)
			key := p.key
			s.later(func(sink capture.Sink) error { return sink.Heap(key, h) })
		}
	}
}

// giveSites hands over the buckets that are new since the last call.
func (s *Source) giveSites(p *process) {
	buckets := p.stats.Buckets(p.sitesKnown)
	if len(buckets) == 0 {
		return
	}
	if err := p.runtime.Why(gomem.FeaturePlugins); err != nil {
		s.gap(p.key, string(gomem.FeaturePlugins)+" of "+p.program.Name, err)
	}
	first, key, symbols := p.sitesKnown, p.key, p.symbols
	p.sitesKnown += len(buckets)
	s.later(func(sink capture.Sink) error {
		defer symbols.Release()
		sites := make([]sample.Site, 0, sitesAtOnce)
		for some := range slices.Chunk(buckets, sitesAtOnce) {
			sites = sites[:0]
			for _, b := range some {
				sites = append(sites, symbols.Site(b))
			}
			if err := sink.Sites(key, first, sites); err != nil {
				return err
			}
			first += len(some)
		}
		return nil
	})
}
