package pacer

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
)

// large is the objects of one size that were allocated in a stretch of the clock.
// A collection is begun only after the allocation that passes its trigger
// (mallocgc), so a large one carries the heap beyond it.
type large struct {
	from, to float64
	size     float64
	bytes    float64 // of all of them
	copied   float64 // size of what is copied into each: a buffer grew; 0: none
	stays    bool    // they are the rise between two knots of the liveness
}

// largest sites count from here on: the profile samples each of their objects at
// the usual rate of 512 KiB with 87 % probability or more.
const fromLarge = sample.MiB

// mostProfiles bounds how many heap profiles are read.
const mostProfiles = 100

// loadLarge finds large allocations in the heap profiles, which count by site and
// size. Without a profile there are none, and Monte Carlo knows no overshoot.
func (h *History) loadLarge(r *recording.Reader) error {
	list, err := r.Profiles(h.Program.Key)
	if err != nil || len(list) == 0 {
		return err
	}
	sites, err := r.Sites(h.Program.Key)
	if err != nil {
		return err
	}
	last, err := r.Profile(list[len(list)-1].ID)
	if err != nil && !errors.Is(err, recording.ErrMissing) {
		return err
	}
	var copied []float64
	if last != nil {
		copied = copiedOf(sites, last.Counts)
	}
	step := max(1, len(list)/mostProfiles)
	var before *sample.HeapProfile
	from := h.ticks[0].alloc
	for i := (len(list) - 1) % step; i < len(list); i += step {
		p, err := r.Profile(list[i].ID)
		if errors.Is(err, recording.ErrMissing) {
			continue
		}
		if err != nil {
			return err
		}
		to := h.clockAt(p)
		h.noteGrowing(sites, copied, p, to)
		h.addLarge(sites, copied, before, p, from, max(from, to))
		before, from = p, max(from, to)
	}
	return nil
}

// clockAt is the clock when a profile was read: of the last sample before it.
func (h *History) clockAt(p *sample.HeapProfile) float64 {
	at := float64(p.At.UnixNano()-h.began) / 1e9
	i, found := slices.BinarySearchFunc(h.ticks, at, func(t tick, at float64) int {
		switch {
		case t.at < at:
			return -1
		case t.at > at:
			return 1
		}
		return 0
	})
	if !found && i > 0 {
		i--
	}
	return h.ticks[min(i, len(h.ticks)-1)].alloc
}

func (h *History) addLarge(sites []sample.Site, copied []float64, before, after *sample.HeapProfile, from, to float64) {
	for i, c := range after.Counts {
		if i >= len(sites) || sites[i].Size < fromLarge {
			continue
		}
		n := c.NowAllocs
		if before != nil && i < len(before.Counts) {
			n -= min(n, before.Counts[i].NowAllocs)
		}
		if size := float64(sites[i].Size); n > 0 {
			l := large{from: from, to: to, size: size, bytes: size * float64(n)}
			if copied != nil {
				l.copied = copied[i]
			}
			h.large = append(h.large, l)
		}
	}
}

// overshoot draws how far the allocation that passes a trigger at clock a goes
// beyond it: the part of the clock that a size makes up is its chance of being the
// one, and where in it the trigger lies is open.
func (h *History) overshoot(a float64, rng *rand.Rand) float64 {
	u := rng.Float64()
	i := sort.Search(len(h.large), func(i int) bool { return h.large[i].to > a })
	for ; i < len(h.large) && h.large[i].from <= a; i++ {
		l := h.large[i]
		if l.stays {
			continue
		}
		share := l.bytes / max(l.to-l.from, l.bytes)
		if u < share {
			return rng.Float64() * l.size
		}
		u -= share
	}
	return 0
}

// mostSteps bounds how many objects are placed one by one between two knots.
const mostSteps = 20

// stepsOf finds the large objects that can be nothing but the rise between two
// knots, and marks them: where one is, the live heap takes a step. Where it may be
// between several, it is where the fewest collections were: a step leaves no heap
// for others to begin at.
func stepsOf(knots []knot, list []large) map[int][]large {
	steps := map[int][]large{}
	left := make([]float64, max(1, len(knots))) // of the rise after each knot
	for i := range knots[1:] {
		left[i] = min(1.02*(knots[i+1].live-knots[i].live), knots[i+1].clock-knots[i].clock)
	}
	for n := range list {
		l := &list[n]
		l.stays = false
		if i := l.stepAfter(knots, left); i >= 0 {
			l.stays = true
			left[i] -= l.bytes
			steps[i] = append(steps[i], *l)
		}
	}
	return steps
}

// stepAfter is the knot after which the objects are the rise, -1 if there is none.
// A rise that they are but a small part of needs no steps.
func (l large) stepAfter(knots []knot, left []float64) int {
	best, fewest := -1, 0
	if l.bytes/l.size > mostSteps {
		return best
	}
	for i := range knots[1:] {
		if l.to <= knots[i].clock || l.from >= knots[i+1].clock || l.bytes > left[i] || l.bytes < left[i]/20 {
			continue
		}
		if between := knots[i+1].gcs - knots[i].gcs; best < 0 || between < fewest {
			best, fewest = i, between
		}
	}
	return best
}
