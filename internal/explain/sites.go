package explain

import (
	"errors"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/heapdiff"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
)

// courseLength bounds how many earlier moments are read for the blamed line.
const courseLength = 32

// sites reads the subject's heap profile at the moment, or the last one before
// it, and makes lines of it.
func (l *loader) sites() error {
	profiles, err := l.Profiles(l.e.Subject)
	if errors.Is(err, recording.ErrMissing) {
		return nil // no program is known
	}
	if err != nil {
		return err
	}
	id := profileOf(l.moments[l.chosen], l.e.Subject)
	within := id != 0
	for i := len(profiles) - 1; i >= 0 && id == 0; i-- {
		if !profiles[i].At.After(l.e.Moment.At) {
			id = profiles[i].ID
			l.e.Gaps = append(l.e.Gaps, sample.Gap{What: "heap profile at this moment", Why: "not read: the lines are of the last profile before it"})
		}
	}
	if id == 0 {
		return nil
	}
	return l.linesOf(id, profiles[0].ID, within)
}

// linesOf reads a profile against the baseline; within: it is the moment's own,
// so that a mark made then counts its objects.
func (l *loader) linesOf(id, first int64, within bool) error {
	profile, err := l.Profile(id)
	if err != nil {
		return err
	}
	stacks, err := l.SitesOf(id)
	if err != nil {
		return err
	}
	var base *sample.HeapProfile
	if first != id {
		if base, err = l.Profile(first); err != nil {
			return err
		}
	}
	p := heapdiff.Profile{Sites: stacks, HeapProfile: profile}
	view := heapdiff.Published
	l.e.SiteView, l.e.Rate = "published", profile.Rate
	if m := l.e.process(); within && m != nil && m.Live != nil && m.Live.Sampled != nil {
		p.HeapProfile, base = liveNow(profile, m.Live.Sampled), published(base)
		l.e.SiteView, view = "live", heapdiff.Now
	}
	module := ""
	if prog := l.e.program(l.e.Subject); prog != nil && prog.Go != nil {
		module = prog.Go.Module
	}
	holders := heapdiff.Holders(p, base, view, module)
	l.e.Sites = []Site{}
	for _, h := range holders {
		if h.InUse.Bytes > 0 || h.Since.Bytes > 0 {
			l.e.Sites = append(l.e.Sites, siteOf(h, p, view))
		}
	}
	return l.course(holders, p)
}

// liveNow is a profile whose objects in use, in the view Now, are those that a
// mark reached.
func liveNow(p *sample.HeapProfile, reached []uint64) *sample.HeapProfile {
	out := *p
	out.Counts = slices.Clone(p.Counts)
	for i := range out.Counts {
		n := &out.Counts[i]
		n.NowFrees = n.NowAllocs
		if i < len(reached) {
			n.NowFrees = n.NowAllocs - min(n.NowAllocs, reached[i])
		}
	}
	return &out
}

// published is a profile that says in the view Now what is published, nil of nil.
func published(p *sample.HeapProfile) *sample.HeapProfile {
	if p == nil {
		return nil
	}
	out := *p
	out.Counts = slices.Clone(p.Counts)
	for i := range out.Counts {
		n := &out.Counts[i]
		n.NowAllocs, n.NowFrees = n.PubAllocs, n.PubFrees
	}
	return &out
}

func siteOf(h heapdiff.Holder, p heapdiff.Profile, view heapdiff.View) Site {
	s := Site{Function: h.Frame.Func, File: h.Frame.File, Line: h.Frame.Line, Own: h.Owner == heapdiff.Own,
		Bytes: amount(h.InUse), Error: sample.Bytes(h.Error), Growth: h.Growth.Bytes, Allocated: amount(h.Alloc), Since: amount(h.Since),
		Freed: freed(h, p), Samples: uint64(h.Samples), Cycle: p.Cycle}
	if view == heapdiff.Now {
		s.Allocated = s.Allocated.Sub(s.Since)
	}
	for _, l := range p.Sites[h.Sites[0]].Stack {
		s.Stack = append(s.Stack, l.Frames...)
	}
	return s
}

func freed(h heapdiff.Holder, p heapdiff.Profile) (sum sample.Bytes) {
	for _, i := range h.Sites {
		if i < len(p.Counts) {
			sum += amount(heapdiff.Scale(int64(p.Counts[i].PubFrees), p.Sites[i].Size, p.Rate))
		}
	}
	return sum
}

func amount(a heapdiff.Amount) sample.Bytes { return sample.Bytes(max(0, a.Bytes)) }

func profileOf(m recording.MomentInfo, key sample.ProcessKey) int64 {
	for _, p := range m.Processes {
		if p.Key == key {
			return p.Profile
		}
	}
	return 0
}

// course reads how the blamed line stood at up to courseLength moments before.
func (l *loader) course(holders []heapdiff.Holder, p heapdiff.Profile) error {
	site := l.e.blamed()
	if site == nil {
		return nil
	}
	at := slices.IndexFunc(holders, func(h heapdiff.Holder) bool {
		return h.Frame.Func == site.Function && h.Frame.File == site.File && h.Frame.Line == site.Line
	})
	for _, id := range l.momentsBefore() {
		m, err := l.Moment(id)
		if err != nil {
			return err
		}
		for i := range m.Processes {
			if then := &m.Processes[i]; then.Key == l.e.Subject && then.Profile != nil {
				l.e.Course = append(l.e.Course, l.stand(holders[at], p.Sites, then, m.At))
			}
		}
	}
	return nil
}

// momentsBefore are at most courseLength moments before the chosen one that hold
// a profile of the subject, evenly spread.
func (l *loader) momentsBefore() []int64 {
	var with []int64
	for _, m := range l.moments[:l.chosen] {
		if profileOf(m, l.e.Subject) != 0 {
			with = append(with, m.ID)
		}
	}
	if len(with) <= courseLength {
		return with
	}
	out := make([]int64, courseLength)
	for i := range out {
		out[i] = with[i*(len(with)-1)/(courseLength-1)]
	}
	return out
}

// stand is how a line stood then, by what was published then.
func (l *loader) stand(h heapdiff.Holder, sites []sample.Site, then *sample.ProcessMoment, at time.Time) Stand {
	s := Stand{At: l.e.seconds(at), Goroutines: then.Goroutines != nil, Cycle: then.Profile.Cycle}
	for _, i := range h.Sites {
		if i < len(then.Profile.Counts) {
			n := then.Profile.Counts[i]
			s.Bytes += amount(heapdiff.Scale(heapdiff.Published.InUse(n), sites[i].Size, then.Profile.Rate))
			s.Freed += amount(heapdiff.Scale(int64(n.PubFrees), sites[i].Size, then.Profile.Rate))
		}
	}
	s.InFlight, s.Unseen = inFlight(then.Goroutines, h.Frame.Func)
	return s
}
