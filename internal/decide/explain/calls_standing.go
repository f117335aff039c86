package explain

import (
	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// standing reports whether the same calls were in flight at nearly all looks, from
// when little of the memory was there.
func standing(site *Site, caller, now, unseen int) bool {
	if site.Function == "main.main" {
		return true
	}
	most := mostCalls(site, caller, now)
	var t stood
	for i := range site.Course {
		s := &site.Course[i]
		if !s.Goroutines {
			continue
		}
		t.looks++
		n := s.calls(caller)
		if n+s.Unseen > 0 {
			t.inside++
		}
		switch few := n > 0 && n+s.Unseen < most; {
		case few && !(most >= int(manyCalls.v()) && s.hasLittle(site)):
			return false
		case n > 0 && n < most && !few:
			t.ran++
		case n > 0: // or some had not begun, and hardly anything was there
			t.whole++
		}
	}
	return now+unseen > 0 && t.all()
}

// stood counts the looks at a line's calls: all, those that saw one or may have, those that saw as many as at any time, and those that
// saw fewer, the rest of which may have run.
type stood struct{ looks, inside, whole, ran int }

func (t stood) all() bool {
	looks := float64(t.looks)
	return t.looks >= int(enoughReadings.v()) && float64(t.inside) >= stillRunning.v()*looks && t.whole > 0 && float64(t.ran) <= (1-stillRunning.v())*looks
}

// mostCalls is how many calls were in flight at most, at any look or now.
func mostCalls(site *Site, caller, now int) int {
	for i := range site.Course {
		if s := &site.Course[i]; s.Goroutines {
			now = max(now, s.calls(caller))
		}
	}
	return now
}

// hasLittle reports whether at a look hardly anything was there of what the line holds now.
func (s *SiteSnapshot) hasLittle(site *Site) bool {
	return site.Bytes > 0 && float64(s.Bytes) <= blamedPart.v()*float64(site.Bytes)
}

// noMore reports whether no more calls were in flight in the second half of the looks' time than in the first, at the beginning of
// which hardly anything of the memory was there: a goroutine that ran may have been in one.
func noMore(site *Site, caller, now int) bool {
	var looks []*SiteSnapshot
	for i := range site.Course {
		if s := &site.Course[i]; s.Goroutines {
			looks = append(looks, s)
		}
	}
	if len(looks) < int(enoughReadings.v()) || float64(looks[0].Bytes) > blamedPart.v()*float64(site.Bytes) {
		return false
	}
	half, early, late := (looks[0].At+looks[len(looks)-1].At)/2, 0, now
	for _, s := range looks {
		if n := s.calls(caller) + s.Unseen; s.At <= half {
			early = max(early, n)
		} else {
			late = max(late, n)
		}
	}
	return early > 0 && late <= early
}

// waitPlace is where calls wait, and the runtime's reason.
type waitPlace struct {
	at     sample.Frame
	reason string
}

// mostWait is the place where most of the calls in flight wait, and how many.
func (c *Case) mostWait() (n int, most waitPlace) {
	waiting := map[waitPlace]int{}
	for _, g := range c.goroutines() {
		b := heapdiff.Blame(sample.Site{Stack: g.Where}, c.module())
		if g.State == "waiting" && b.Owner == heapdiff.Own && b.Frame.Line > 0 && stands(g.Where, c.inFlight.name) {
			k := waitPlace{lineOf(b.Frame), g.Reason}
			if waiting[k] += g.Count; waiting[k] > waiting[most] {
				most = k
			}
		}
	}
	return waiting[most], most
}

// evenCalls reports whether the live heap grew over many readings, and to the end, while no more calls were in flight than at first, which
// put together no value: either each of them has more and more, or they leave it behind.
func (c *Case) evenCalls() bool {
	r := &c.rise
	if !c.inFlight.even || !c.goesOnGrowing() || r.n < int(manyReadings.v()) || c.wholeValues() > 0 || r.step >= heldByRoot.v()*r.grown {
		return false
	}
	return c.curve.atTime((r.from+r.to)/2) >= r.first+r.grown/4
}

// standIdle reports whether as many calls were in flight all along, and most of them wait for the next thing to do, as those of connections
// do: each has more and more, and none of that is work in flight.
func (c *Case) standIdle() bool {
	if !c.inFlight.standing || float64(c.inFlight.calls) < manyCalls.v() || !c.rise.mono {
		return false
	}
	n, most := c.mostWait()
	return n*2 > c.inFlight.calls && (most.reason == "IO wait" || most.reason == "chan receive" || most.reason == "select")
}
