package explain

import (
	"errors"
	"math"
	"sort"

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
	var live []uint64
	l.e.SiteView, l.e.Rate = "published", profile.Rate
	if p := l.e.process(); within && p != nil && p.Live != nil && p.Live.Sampled != nil {
		l.e.SiteView, live = "live", p.Live.Sampled
	}
	g := group(stacks, blamer(l.e.program(l.e.Subject)))
	l.e.Sites = g.lines(stacks, profile, live, base)
	return l.course(g)
}

func profileOf(m recording.MomentInfo, key sample.ProcessKey) int64 {
	for _, p := range m.Processes {
		if p.Key == key {
			return p.Profile
		}
	}
	return 0
}

// course reads how the blamed line stood at up to courseLength moments before.
func (l *loader) course(g groups) error {
	site := l.e.blamed()
	if site == nil {
		return nil
	}
	var with []int
	for i := range l.chosen {
		if profileOf(l.moments[i], l.e.Subject) != 0 {
			with = append(with, i)
		}
	}
	step := float64(max(1, len(with)-1)) / (courseLength - 1)
	for n, last := 0.0, -1; int(n) < len(with); n += max(1, step) {
		if int(n) == last {
			continue
		}
		last = int(n)
		m, err := l.Moment(l.moments[with[last]].ID)
		if err != nil {
			return err
		}
		for i := range m.Processes {
			if p := &m.Processes[i]; p.Key == l.e.Subject && p.Profile != nil {
				l.e.Course = append(l.e.Course, g.stand(site, p, l.e.seconds(m.At)))
			}
		}
	}
	return nil
}

func (g groups) stand(site *Site, p *sample.ProcessMoment, at float64) Stand {
	s := Stand{At: at, Goroutines: p.Goroutines != nil, Cycle: p.Profile.Cycle}
	for _, i := range g.members[lineKey{site.Function, site.File, site.Line}] {
		if i < len(p.Profile.Counts) {
			n := p.Profile.Counts[i]
			s.Bytes += scaled(minus(n.PubAllocs, n.PubFrees), g.sizes[i], p.Profile.Rate)
			s.Freed += scaled(n.PubFrees, g.sizes[i], p.Profile.Rate)
		}
	}
	s.InFlight, s.Unseen = inFlight(p.Goroutines, site.Function)
	return s
}

type lineKey struct {
	function, file string
	line           int
}

// groups are the buckets of a profile by the line that is to blame for them.
type groups struct {
	members map[lineKey][]int
	own     map[lineKey]bool
	sizes   []sample.Bytes
}

func group(stacks []sample.Site, blame func([]sample.Frame) (sample.Frame, bool)) groups {
	g := groups{members: map[lineKey][]int{}, own: map[lineKey]bool{}}
	for i, s := range stacks {
		f, own := blame(flat(s.Stack))
		k := lineKey{f.Func, f.File, f.Line}
		g.members[k] = append(g.members[k], i)
		g.own[k] = own
		g.sizes = append(g.sizes, s.Size)
	}
	return g
}

func flat(stack []sample.Location) []sample.Frame {
	var out []sample.Frame
	for _, l := range stack {
		out = append(out, l.Frames...)
	}
	return out
}

// lines sums the buckets of each line. A line that holds nothing is left out.
func (g groups) lines(stacks []sample.Site, p *sample.HeapProfile, live []uint64, base *sample.HeapProfile) []Site {
	out := []Site{}
	for k, members := range g.members {
		s := Site{Function: k.function, File: k.file, Line: k.line, Own: g.own[k], Cycle: p.Cycle}
		variance, most := 0.0, sample.Bytes(0)
		for _, i := range members {
			if i >= len(p.Counts) {
				continue
			}
			n, size := p.Counts[i], g.sizes[i]
			held := minus(n.PubAllocs, n.PubFrees)
			if live != nil {
				held = at(live, i)
			}
			bytes := scaled(held, size, p.Rate)
			variance += varianceOf(held, size, p.Rate)
			if bytes > most || s.Stack == nil {
				most, s.Stack = bytes, flat(stacks[i].Stack)
			}
			s.Samples += held
			s.Bytes += bytes
			s.Allocated += scaled(n.PubAllocs, size, p.Rate)
			s.Freed += scaled(n.PubFrees, size, p.Rate)
			s.Since += scaled(minus(n.NowAllocs, n.PubAllocs), size, p.Rate)
			s.Growth += int64(bytes)
			if base != nil && i < len(base.Counts) {
				b := base.Counts[i]
				s.Growth -= int64(scaled(minus(b.PubAllocs, b.PubFrees), size, base.Rate))
			}
		}
		s.Error = root(variance)
		if s.Bytes > 0 || s.Since > 0 {
			out = append(out, s)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Bytes != b.Bytes {
			return a.Bytes > b.Bytes
		}
		return a.Function < b.Function || a.Function == b.Function && a.Line < b.Line
	})
	return out
}

func at(counts []uint64, i int) uint64 {
	if i < len(counts) {
		return counts[i]
	}
	return 0
}

func minus(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}

// chance is the probability that an object of that size is sampled
// (runtime/pprof, scaleHeapSample).
func chance(size sample.Bytes, rate int64) float64 {
	if rate <= 1 || size == 0 {
		return 1
	}
	return 1 - math.Exp(-float64(size)/float64(rate))
}

func scaled(n uint64, size sample.Bytes, rate int64) sample.Bytes {
	return sample.Bytes(float64(n) * float64(size) / chance(size, rate))
}

// varianceOf is that of n scaled bytes: n(1-p)/p² objects.
func varianceOf(n uint64, size sample.Bytes, rate int64) float64 {
	p := chance(size, rate)
	return float64(n) * (1 - p) / (p * p) * float64(size) * float64(size)
}
