package explain

import (
	"cmp"
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// oneCall is a call that began in the middle of the run, and in which nearly all was allocated that a line holds: an export at
// night, a load that somebody asked for. Calls inside it begin and end; what they leave behind is in reach of this one until it returns.
type oneCall struct {
	caller       int     // its index among the callers of the line
	began, ended float64 // seconds since the start: the first look that saw it, and the first that saw it no more, 0 if none did
	held         sample.Bytes
}

// oneCallOf finds the innermost such call of the program, nil where the looks show several or one that began with the run.
func oneCallOf(site *Site, now []int, running int, at float64) *oneCall {
	callers := site.callers()
	for i := range callers {
		if !callers[i].Own || float64(callers[i].Under) < (1-blamedPart.v())*float64(site.Bytes) {
			continue
		}
		one := oneCall{caller: i, held: callers[i].Under}
		if one.seenBy(append(looksAt(site, i), callLook{at, now[i], running, site.Bytes}), blamedPart.v()*float64(site.Bytes)) {
			return &one
		}
	}
	return nil
}

// callLook is how many calls of a function a look saw in flight, how many goroutines ran that may have been in one, and
// what the line held then.
type callLook struct {
	at            float64
	calls, unseen int
	held          sample.Bytes
}

func looksAt(site *Site, caller int) (looks []callLook) {
	for i := range site.Course {
		if s := &site.Course[i]; s.Goroutines {
			looks = append(looks, callLook{s.At, s.calls(caller), s.Unseen, s.Bytes})
		}
	}
	return looks
}

// seenBy notes when the last call began and ended, and reports whether it is the one in which the memory came: looks before it saw
// none, those after saw one and no more, and hardly anything was held before it began. There may have been others before, of which
// hardly anything is left.
func (one *oneCall) seenBy(looks []callLook, hardly float64) bool {
	var rest, last, this stretch
	for _, l := range looks {
		switch {
		case l.calls > 1:
			return false
		case l.calls > 0 || l.unseen > 0:
			this.looks++
			if this.seen += l.calls; l.calls == 1 {
				this.began = cmp.Or(this.began, l.at)
				this.before, this.held = rest.looks, rest.held
				last = this
			}
		default:
			if last.ended == 0 {
				last.ended = l.at
			}
			rest.looks, rest.held, this = rest.looks+1, l.held, stretch{}
		}
	}
	if last.seen == 0 {
		return false
	}
	one.began, one.ended = last.began, last.ended
	return float64(last.held) <= hardly && last.before >= int(fewestReadings.v()) && last.seen >= leastSeen && last.looks >= int(enoughReadings.v()) &&
		last.began >= shortestRise.v()
}

// leastSeen is at how many looks a call must have been seen: at others a goroutine ran that may have been in it.
const leastSeen = 2

// stretch is looks in a row that saw a call, or a goroutine that may have been in one; or those that saw none.
type stretch struct {
	looks, seen  int
	before       int          // looks before it that saw none
	held         sample.Bytes // at the last of these
	began, ended float64      // seconds since the start
}

// oneCallEnded reports whether the memory came in one call that is over, and no collection has looked since at what it left.
func (c *Case) oneCallEnded() bool {
	one := c.inFlight.one
	if one == nil || one.ended == 0 || len(c.Cycles) == 0 { // without collections that were read nobody knows of later ones
		return false
	}
	for _, g := range c.Cycles {
		if c.seconds(g.At) > one.ended {
			return false
		}
	}
	return true
}

// oneCallWords say what one call allocated, and when.
func (c *Case) oneCallWords() string {
	one, s := c.inFlight.one, c.site
	caller := s.callers()[one.caller]
	part := size(s.Bytes)
	if part == size(one.held) {
		part = "all"
	}
	return fmt.Sprintf("One call of %s%s allocated %s of the live heap from %s after start on, %s of that at %s, and had returned by %s after start. "+
		"No GC has run since then.",
		ShortFunc(caller.Function), c.in(), size(one.held), seconds(one.began), part, place(s.File, s.Line), seconds(one.ended))
}
