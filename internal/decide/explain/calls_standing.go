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
	most := now
	for i := range site.Course {
		if s := &site.Course[i]; s.Goroutines {
			most = max(most, s.calls(caller))
		}
	}
	looks, inside, whole, ran := 0, 0, 0, 0
	for i := range site.Course {
		s := &site.Course[i]
		if !s.Goroutines {
			continue
		}
		looks++
		n := s.calls(caller)
		if n+s.Unseen > 0 {
			inside++
		}
		switch few := n > 0 && n+s.Unseen < most; {
		case few && most >= int(manyCalls.v()) && site.Bytes > 0 && float64(s.Bytes) <= blamedPart.v()*float64(site.Bytes):
			whole++ // some had not begun, and hardly anything was there
		case few:
			return false
		case n > 0 && n < most:
			ran++
		case n > 0:
			whole++
		}
	}
	return looks >= int(enoughReadings.v()) && float64(inside) >= stillRunning.v()*float64(looks) && now+unseen > 0 &&
		whole > 0 && float64(ran) <= (1-stillRunning.v())*float64(looks)
}

// sameNumber reports whether as many calls were in flight at nearly all looks, from when hardly anything of the memory was there: a
// goroutine that ran may have been in one.
func sameNumber(site *Site, caller, now int) bool {
	most, looks, whole, seen := now, 0, 0, 0
	for i := range site.Course {
		most = max(most, site.Course[i].calls(caller))
	}
	for i := range site.Course {
		s := &site.Course[i]
		if !s.Goroutines {
			continue
		}
		looks++
		if s.calls(caller)+s.Unseen < most {
			continue
		}
		if whole++; whole == 1 && float64(s.Bytes) > blamedPart.v()*float64(site.Bytes) {
			return false
		}
		if s.calls(caller) == most {
			seen++
		}
	}
	return looks >= int(enoughReadings.v()) && float64(whole) >= stillRunning.v()*float64(looks) && 2*seen > looks
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

// evenCalls reports whether the live heap grew over many readings, and to the end, while as many calls were in flight all along, which
// put together no value: each of them has more and more.
func (c *Case) evenCalls() bool {
	return c.inFlight.even && c.goesOnGrowing() && c.rise.n >= int(manyReadings.v()) && c.wholeValues() == 0 && c.rise.step < heldByRoot.v()*c.rise.grown
}

// standIdle reports whether as many calls were in flight all along, and most of them wait for the next thing to do, as those of connections
// do: what each has more and more of is no work in flight.
func (c *Case) standIdle() bool {
	if !c.inFlight.standing || float64(c.inFlight.calls) < manyCalls.v() || !c.rise.mono {
		return false
	}
	n, most := c.mostWait()
	return n*2 > c.inFlight.calls && (most.reason == "IO wait" || most.reason == "chan receive" || most.reason == "select")
}
