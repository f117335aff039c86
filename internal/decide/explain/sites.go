package explain

import (
	"errors"
	"slices"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// courseLength bounds how many earlier moments are read for the blamed line, and
// profiles for the baseline.
const courseLength = 32

// mostProfiles bounds how many profiles are looked for over a whole long recording.
const mostProfiles = 2000

// readings bounds how many profiles the course of the live heap is read from.
const readings = 200

// sites reads the subject's heap profile at the moment, or the last one before
// it, and makes lines of it.
func (l *loader) sites() error {
	id := profileOf(l.moments[l.chosen], l.e.Subject)
	within := id != 0
	profiles, err := l.profiles(within)
	if errors.Is(err, recording.ErrMissing) {
		return nil // no program is known
	}
	if err != nil {
		return err
	}
	if within {
		if last, err := l.IsOfLast(id, l.e.Subject); err != nil {
			return err
		} else if !last || len(profiles) == 0 {
			profiles = []recording.ProfileInfo{{ID: id, At: l.e.Moment.At}} // of a program that the process ran before its last
		}
	}
	for i := len(profiles) - 1; i >= 0 && id == 0; i-- {
		if !profiles[i].At.After(l.e.Moment.At) {
			id = profiles[i].ID
			l.e.Gaps = append(l.e.Gaps, sample.Gap{What: "heap profile at that instant", Why: "not read; the lines are those of the last profile before"})
		}
	}
	if id == 0 {
		return nil
	}
	return l.linesOf(id, profiles, within)
}

// profiles are those of the subject: of a long recording, where it lived for nearly
// all of it and the moment has a profile of its own, so many of them evenly.
func (l *loader) profiles(within bool) ([]recording.ProfileInfo, error) {
	from, to := l.e.Start, l.e.End
	for _, ev := range l.e.Events {
		switch {
		case ev.Process != l.e.Subject:
		case ev.Kind == sample.EventStart:
			from = ev.At
		case ev.Kind == sample.EventExit:
			to = ev.At
		}
	}
	slack := l.e.End.Sub(l.e.Start) / 100
	if !within || from.Sub(l.e.Start) > slack || l.e.End.Sub(to) > slack || l.e.Imported != "" {
		return l.Profiles(l.e.Subject)
	}
	return l.ProfilesAbout(mostProfiles, l.e.Subject)
}

// linesOf reads a profile against the baseline; within: it is the moment's own,
// so that a mark made then counts its objects.
func (l *loader) linesOf(id int64, all []recording.ProfileInfo, within bool) error {
	profile, err := l.Profile(id)
	if err != nil {
		return err
	}
	stacks, err := l.SitesOf(id)
	if err != nil {
		return err
	}
	if err := l.held(all, stacks); err != nil {
		return err
	}
	base, err := l.baseline(id, all, stacks)
	if err != nil {
		return err
	}
	l.e.Alone = base == nil && (l.e.Imported != "" || l.e.Watched)
	p := heapdiff.Profile{Sites: stacks, HeapProfile: profile}
	view := heapdiff.Published
	l.e.SiteView, l.e.Rate = "published", profile.Rate
	var dead []int64
	if m := l.e.process(); within && m != nil && m.Live != nil && m.Live.Sampled != nil {
		dead = deadOf(profile, m.Live.Sampled)
		p.HeapProfile, base = heapdiff.Live(profile, m.Live.Sampled), heapdiff.AsPublished(base)
		l.e.SiteView, view = "live", heapdiff.Now
	}
	holders := heapdiff.Holders(p, base, view, l.module())
	l.keep(holders, p, view)
	if err := l.allocators(all[len(all)-1].ID, id, holders, p, dead); err != nil {
		return err
	}
	return l.course(holders, p, view)
}

// keep keeps the lines that hold something, or allocated it since the collection.
func (l *loader) keep(holders []heapdiff.Holder, p heapdiff.Profile, view heapdiff.View) {
	l.e.Sites = []Site{}
	for _, h := range holders {
		if h.InUse.Bytes > 0 || h.Since.Bytes > 0 {
			s := siteOf(h, p, view)
			if l.e.Alone {
				s.Growth, s.GrownObjects = 0, 0
			}
			l.e.Sites = append(l.e.Sites, s)
		}
	}
	for i := range l.e.Sites {
		s := &l.e.Sites[i]
		if s.helper.Func == "" {
			continue
		}
		same := func(h Site) bool { return h.innermost.Func == s.helper.Func && h.innermost.Line == s.helper.Line }
		if k := slices.IndexFunc(l.e.Sites, same); k >= 0 {
			s.others, l.e.Sites[k].helps = l.e.Sites[k].Bytes, true
		}
	}
}

func framesOf(s sample.Site) (out []sample.Frame) {
	for _, l := range s.Stack {
		out = append(out, l.Frames...)
	}
	return out
}

// held reads the course of the live heap from the profiles, where no collection
// is known: what a published profile calls in use was live at its collection.
func (l *loader) held(all []recording.ProfileInfo, sites []sample.Site) error {
	if len(l.e.Cycles) > 0 || l.e.Imported == "" {
		return nil
	}
	ids := make([]int64, len(all))
	for i, p := range all {
		ids[i] = p.ID
	}
	for _, id := range sampleEvenly(ids, readings) {
		p, err := l.Profile(id)
		if err != nil {
			return err
		}
		h := Held{At: l.e.seconds(p.At), InUse: sample.Bytes(inUse(p, sites))}
		for i, n := range p.Counts[:min(len(p.Counts), len(sites))] {
			h.Alloc += amount(heapdiff.Scale(heapdiff.Published.Allocs(n), sites[i].Size, p.Rate))
		}
		l.e.Held = append(l.e.Held, h)
	}
	return nil
}

// baseline is the profile in which least was in use since the live heap last came
// back, or since the first collection: the floor before the last rise. A profile
// lags by up to two collections, so that the one of the floor's own time may still
// show the wave before it. Nil: there is none before the moment's.
func (l *loader) baseline(id int64, all []recording.ProfileInfo, sites []sample.Site) (*sample.HeapProfile, error) {
	from := liveCurve(l.e).since
	since, err := all, error(nil)
	if len(all) >= mostProfiles/2 {
		since, err = l.ProfilesBetween(l.e.Start.Add(durationOf(from)), l.e.Moment.At, 4*courseLength, l.e.Subject)
	}
	if err != nil {
		return nil, err
	}
	var within []int64
	for _, p := range since {
		if p.ID != id && p.At.Before(l.e.Moment.At) && l.e.seconds(p.At) >= from {
			within = append(within, p.ID)
		}
	}
	if len(within) == 0 && all[0].ID != id {
		within = []int64{all[0].ID}
	}
	var best *sample.HeapProfile
	least := int64(0)
	for _, id := range sampleEvenly(within, courseLength) {
		p, err := l.Profile(id)
		if err != nil {
			return nil, err
		}
		if total := inUse(p, sites); best == nil || total < least {
			best, least = p, total
		}
	}
	return best, nil
}

func inUse(p *sample.HeapProfile, sites []sample.Site) (bytes int64) {
	for i, n := range p.Counts[:min(len(p.Counts), len(sites))] {
		bytes += heapdiff.Scale(heapdiff.Published.InUse(n), sites[i].Size, p.Rate).Bytes
	}
	return bytes
}

// sampleEvenly is at most n of a list, evenly, its ends among them.
func sampleEvenly(list []int64, n int) []int64 {
	if len(list) <= n {
		return list
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = list[i*(len(list)-1)/(n-1)]
	}
	return out
}

func siteOf(h heapdiff.Holder, p heapdiff.Profile, view heapdiff.View) Site {
	s := Site{Place: h.Frame.Place(), Own: h.Owner == heapdiff.Own,
		Bytes: amount(h.InUse), Error: sample.Bytes(h.Error), Growth: h.Growth.Bytes, GrownObjects: h.Growth.Objects,
		Allocated: amount(h.Alloc), Since: amount(h.Since),
		Freed: freed(h, p), Samples: uint64(h.Samples), Objects: uint64(max(0, h.InUse.Objects)), Cycle: p.Cycle}
	s.FreedOfHeld = freedOfHeld(h, p, view)
	s.Largest, s.AsLarge = largestObject(h, p, view)
	if s.Marked = view == heapdiff.Now; s.Marked {
		s.Allocated = s.Allocated.Sub(s.Since)
	}
	s.Stack, s.innermost, s.helper = framesOf(p.Sites[h.Sites[0]]), h.Frame, h.Helper
	if f := libraryFrame(s.Stack); h.Owner == heapdiff.Standard && f.Func != "" {
		s.Function, s.File, s.Line = f.Func, f.File, f.Line
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

// freedOfHeld is the part of what a line's stacks allocated that was freed, weighted by
// what each still holds.
func freedOfHeld(h heapdiff.Holder, p heapdiff.Profile, view heapdiff.View) sample.Opt[float64] {
	var held, freed float64
	for _, i := range h.Sites {
		if i >= len(p.Counts) || p.Counts[i].NowAllocs == 0 {
			continue
		}
		n := p.Counts[i]
		weight := float64(heapdiff.Scale(view.InUse(n), p.Sites[i].Size, p.Rate).Bytes)
		held += weight
		freed += weight * min(1, float64(n.PubFrees)/float64(n.NowAllocs))
	}
	if held == 0 {
		return sample.Opt[float64]{}
	}
	return sample.Some(freed / held)
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
