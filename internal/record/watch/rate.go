package watch

import (
	"fmt"
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// exactSizes is what a heap profile lacks whose rate was changed.
const exactSizes = "exact sizes in the heap profile of "

// checkRate tells of a rate that changes: all counts are scaled by the present one,
// as the program's own profile is. What the runtime allocates before a program's own
// code can set a rate is not worth it.
func (s *Source) checkRate(p *process, rate int64) {
	before, allocated := p.rate, p.rateFor
	if rate <= 0 {
		return
	}
	p.rate, p.rateFor = rate, p.figures.TotalAlloc
	if before != 0 && rate != before && allocated > atStart {
		s.gap(p.key, exactSizes+p.program.Name,
			fmt.Errorf("the program changed runtime.MemProfileRate from %d to %d: what was sampled before is scaled by the wrong rate, as in its own profile",
				before, rate))
	}
}

// checkSamples tells of a profile whose samples, scaled by its rate, do not add up to
// what the runtime has counted: its rate was changed before it was seen, or between
// two looks.
func (s *Source) checkSamples(p *process, h *sample.HeapProfile) {
	late := p.program.HeapProfile == sample.HeapProfileEnabled && s.scope != started
	if late || h.Left > 0 || s.gaps[told{p.key, exactSizes + p.program.Name}] {
		return // told as that
	}
	sampled, counted := p.stats.SampledTotal(h), float64(p.figures.TotalAlloc)
	if before, missing := p.counted.without(sampled, counted, h.Rate, h.At); missing {
		s.sayRate(p, h.Rate, sampled, before)
		return
	}
	if sampled <= counted+chance(counted, h.Rate) {
		return
	}
	var now sample.Runtime
	if p.stats.Counters(&now) != nil {
		return
	}
	if counted = float64(now.TotalAlloc); sampled > counted+chance(counted, h.Rate) {
		s.sayRate(p, h.Rate, sampled, counted)
	}
}

// counted is the bytes that the runtime had counted at a look at the profile.
type counted struct {
	total float64
	at    time.Time
}

// underWay is longer than an object is counted and not sampled yet: before it is, the
// runtime clears what it notes of a large one, which may be slow in a full cgroup.
const underWay = 2 * time.Second

// without says that the samples of now are too few for what was counted so long ago that
// none of it can be under way, and how much that was.
func (c *counted) without(sampled, total float64, rate int64, now time.Time) (before float64, missing bool) {
	if !c.at.IsZero() && now.Sub(c.at) < underWay {
		return 0, false
	}
	before = c.total
	c.total, c.at = total, now
	return before, sampled < before-chance(before, rate)
}

func (s *Source) sayRate(p *process, rate int64, sampled, counted float64) {
	s.gap(p.key, exactSizes+p.program.Name,
		fmt.Errorf("its samples are of %.0f MiB at the present rate of 1 per %d bytes, and the runtime has counted %.0f MiB: the program changed runtime.MemProfileRate before, and no one rate is right for all of them",
			sampled/(1<<20), rate, counted/(1<<20)))
}

// atStart is more than what a small program's runtime allocates before main.
const atStart = 1 * sample.MiB

// chance is how far the samples of so many bytes may be off: six standard errors, of
// objects much smaller than the rate, and what is allocated before a program's own
// code can set a rate.
func chance(total float64, rate int64) float64 {
	return 6*math.Sqrt(total*float64(rate)) + 2*float64(rate) + total/50 + float64(atStart)
}
