package capture

import (
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// due values beside the moment kinds.
const dueProfile = "profile"

const (
	profileEvery = 5 * time.Second        // rhythm of heap profiles while memory moves
	profileStill = 15 * time.Second       // and while it does not
	calmFirst    = 500 * time.Millisecond // first calm moment; then twice as long each
	calmLast     = time.Minute            // the calm rhythm that is reached, but at rest
	growthEvery  = 5 * time.Second        // at most one growth moment in this time
	fullEvery    = 50 * time.Millisecond  // full ticks while dense ones run
	rateWindow   = 200 * time.Millisecond // growth is measured over at least this
	stillStep    = 0.01                   // of the memory in use: less is no move

	// A moment at a new maximum is due when the memory that cannot be reclaimed
	// exceeds the last kept maximum by this factor and step: a climb of any
	// height gives a bounded number of them (97 from 16 MiB to 1 TiB).
	maxFactor = 1.12
	maxStep   = 4 * sample.MiB
	// A maximum that has stood still this long is kept too, from a smaller step:
	// the top of a climb, not only its steps.
	maxSettled     = 300 * time.Millisecond
	maxSettledStep = 1.01

	// momentShare is the share of time that moments and profiles may take of a
	// processor, deaths aside; half of momentBurst is kept back for maxima.
	momentShare = 0.02
	momentBurst = 400 * time.Millisecond
	// manyShare and manyBurst are these while the source starts many programs, each of which lives for about as long as a
	// moment takes.
	manyShare = 0.005
	manyBurst = 50 * time.Millisecond
	// waitShare is how much of the time that we wait for a processor counts: a
	// machine too busy for us must not hide the peak, nor moments all else.
	waitShare = 0.1
)

// policy decides how often to look and when to keep a moment. It holds no clock
// of its own: every call brings the time.
type policy struct {
	calm, fastest time.Duration

	start    time.Time
	lastFull time.Time

	use      sample.Bytes // what cannot be reclaimed, from the last full tick, moved by the dense ones
	usage    sample.Bytes
	cache    sample.Bytes
	limit    sample.Opt[sample.Bytes]
	rate     float64 // bytes a second, over rateWindow
	rateUse  sample.Bytes
	rateFrom time.Time

	max      sample.Bytes // greatest use seen, when, and the greatest kept
	maxAt    time.Time
	keptMax  sample.Bytes
	keptAt   time.Time // when a moment last had it
	nextCalm time.Time
	calmStep time.Duration
	lastProf time.Time
	profUse  sample.Bytes // the use at that time
	growthAt time.Time
	growing  bool

	allowance time.Duration // of time for moments
	many      bool          // many programs are started
	paidAt    time.Time

	rest rest
}

func newPolicy(calmHz, maxHz int) policy {
	if calmHz <= 0 {
		calmHz = 10
	}
	if maxHz <= 0 {
		maxHz = 1000
	}
	calm := time.Second / time.Duration(calmHz)
	return policy{calm: calm, fastest: min(calm, time.Second/time.Duration(maxHz)), allowance: momentBurst, calmStep: calmFirst}
}

// depth is Full in calm and at least each fullEvery, Dense between. At rest it is Resting
// once in restEvery.
func (p *policy) depth(now time.Time) Depth {
	if p.rests(now) {
		if p.rest.deaf && p.limit.OK && now.Sub(p.lastFull) < restEvery-restDeaf/2 {
			return Dense
		}
		return Resting
	}
	if p.interval() >= fullEvery || now.Sub(p.lastFull) >= fullEvery {
		return Full
	}
	return Dense
}

// observe takes a point in.
func (p *policy) observe(pt *sample.Point, d Depth) {
	if d != Dense {
		p.lastFull = pt.At
	}
	p.measure(pt)
	if d == Dense {
		p.rest.observeCharge(pt, p.use, p.limit)
	} else {
		p.rest.observe(pt, p.use, p.limit)
	}
	if p.start.IsZero() {
		p.begin(pt.At)
	}
	if p.use > p.max {
		p.max, p.maxAt = p.use, pt.At
	}
	if dt := pt.At.Sub(p.rateFrom); dt >= rateWindow {
		p.rate = (float64(p.use) - float64(p.rateUse)) / dt.Seconds()
		p.rateUse, p.rateFrom = p.use, pt.At
	}
}

func (p *policy) begin(now time.Time) {
	p.start, p.paidAt = now, now
	p.rateFrom, p.rateUse = now, p.use
	p.nextCalm = now.Add(p.calmStep)
	p.profiled(now)
}

// measure sets use: the charge without its page cache, or without a cgroup the
// resident anonymous memory of the processes.
func (p *policy) measure(pt *sample.Point) {
	if c := pt.Cgroup; c != nil {
		p.usage, p.limit = c.Usage, c.Limit
		if c.Stat != nil {
			p.cache = c.Stat.PageCache
		}
		p.use = p.usage.Sub(p.cache)
		return
	}
	var sum sample.Bytes
	seen := false
	for i := range pt.Processes {
		if r := pt.Processes[i].Resident; r != nil {
			sum += r.Anon()
			seen = true
		}
	}
	if seen {
		p.use = sum
	}
}

// interval is how long to wait between ticks: calm, until the time that is left
// to the limit at the present growth is short. Without a limit, the time to
// double stands for it.
func (p *policy) interval() time.Duration {
	if p.rate <= 0 {
		return p.calm
	}
	room := float64(p.use)
	if p.limit.OK {
		room = float64(p.limit.V.Sub(p.use))
	}
	left := room / p.rate
	switch {
	case left < 2 && p.limit.OK:
		return p.fastest
	case left < 15:
		return max(p.fastest, min(p.calm, 10*time.Millisecond))
	}
	return p.calm
}

// wait is the time until the next tick is due, never less than a quarter of the
// interval, so that a slow machine does not make us spin.
func (p *policy) wait(started, now time.Time) time.Duration {
	if p.rests(now) {
		if p.rest.deaf && p.limit.OK {
			return min(restDeaf, untilGrid(now))
		}
		return untilGrid(now)
	}
	step := p.interval()
	return max(step-now.Sub(started), step/4)
}

// rests says whether the programs rest: nothing moves, and no limit is near at the present
// growth.
func (p *policy) rests(now time.Time) bool {
	return !p.rest.isOver(now) && p.calm <= restEvery && p.interval() >= p.calm
}

// flushEvery is how long what was seen may wait to be kept.
func (p *policy) flushEvery(now time.Time) time.Duration {
	if p.rests(now) {
		return restFlush
	}
	return flushEvery
}

// due says what is worth keeping now: a moment's kind, dueProfile or "".
func (p *policy) due(now time.Time) string {
	p.grant(now)
	fast := p.rate > 0.2*float64(p.limit.Or(max(p.use, 64*sample.MiB)))
	began := fast && !p.growing
	p.growing = fast
	spare := p.allowance > momentBurst/2 && !p.many
	switch {
	case p.allowance <= 0:
		return ""
	case spare && p.calmDue(now):
		p.calmStep = min(p.calmGrowth(now)*p.calmStep, restMoment)
		p.nextCalm = now.Add(p.calmStep)
		p.profiled(now)
		p.keptMax, p.keptAt = max(p.keptMax, p.use), now
		return string(sample.MomentCalm)
	case p.newMaximum(now):
		p.keptMax, p.keptAt = p.use, now
		return string(sample.MomentMax)
	case spare && began && now.Sub(p.growthAt) >= growthEvery:
		p.growthAt = now
		return string(sample.MomentGrowth)
	case spare && p.profileDue(now):
		p.profiled(now)
		return dueProfile
	}
	return ""
}

// calmDue reports whether a calm moment is due. The rhythm goes beyond calmLast only where nothing has moved since.
func (p *policy) calmDue(now time.Time) bool {
	if p.calmStep > calmLast && p.rest.moved.After(p.nextCalm.Add(-p.calmStep)) {
		p.nextCalm, p.calmStep = p.nextCalm.Add(calmLast-p.calmStep), calmLast
	}
	return !now.Before(p.nextCalm)
}

// calmGrowth is by how much the calm rhythm slows: by more where there is nothing new to see.
func (p *policy) calmGrowth(now time.Time) time.Duration {
	if p.rests(now) {
		return restGrowth
	}
	return 2
}

// profileDue reports whether a profile is due. The rhythm is slower while nothing moves, as a profile of very many sites
// is the dearest thing that is read in calm.
func (p *policy) profileDue(now time.Time) bool {
	if p.rests(now) && !p.rest.hasNews() {
		return false
	}
	since := now.Sub(p.lastProf)
	moved := math.Abs(float64(p.use)-float64(p.profUse)) > stillStep*float64(p.profUse)
	return since >= profileStill || since >= profileEvery && moved
}

func (p *policy) profiled(now time.Time) {
	p.lastProf, p.profUse, p.rest.prof = now, p.use, p.rest.now
}

func (p *policy) newMaximum(now time.Time) bool {
	if p.use < p.keptMax+maxStep && float64(p.use) < maxSettledStep*float64(p.keptMax) || p.creeps(now) {
		return false
	}
	if float64(p.use) >= maxFactor*float64(p.keptMax) && p.use >= p.keptMax+maxStep {
		return true
	}
	settled := now.Sub(p.maxAt) >= maxSettled || p.max == p.use && p.rate <= 0
	return settled && float64(p.use) >= maxSettledStep*float64(p.keptMax) && float64(p.use) >= 0.99*float64(p.max)
}

// creeps says of a program at rest that it grows so slowly that its next maximum can wait: a
// server without clients that has not collected yet is a hundredth larger every few seconds.
func (p *policy) creeps(now time.Time) bool {
	since, more := now.Sub(p.keptAt), p.use.Sub(p.keptMax)
	if since >= restMaximum || !p.rests(now) || p.limit.OK && p.limit.V.Sub(p.use) < restRoom*more {
		return false
	}
	return float64(more) < restClimb*since.Seconds()
}

// grant lets the allowance for moments grow with time.
func (p *policy) grant(now time.Time) {
	share, most := momentShare, momentBurst
	if p.many {
		share, most = manyShare, manyBurst
	}
	p.allowance += time.Duration(share * float64(now.Sub(p.paidAt)))
	p.allowance = min(p.allowance, most)
	p.paidAt = now
}

// paid charges what a moment or a profile took to the allowance: time of a processor,
// and a little of the time that passed.
func (p *policy) paid(processor, passed time.Duration) {
	p.allowance -= min(passed, max(processor, time.Duration(waitShare*float64(passed))))
}
