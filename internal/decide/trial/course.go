package trial

import (
	"fmt"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// course is what happened in a run, in order.
type course struct {
	start, exit, killed, loadStart, loadEnd *sample.Event
	stopped                                 *sample.Event // the first signal by which it was to end
}

func courseOf(events []sample.Event) (c course) {
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case sample.EventStart:
			keepFirst(&c.start, e)
		case sample.EventExit:
			if c.start != nil && e.Process == c.start.Process {
				c.exit = e
			}
		case sample.EventOOMKill:
			keepFirst(&c.killed, e)
		case sample.EventLoadStart:
			c.loadStart = e
		case sample.EventLoadEnd:
			c.loadEnd = e
		case sample.EventSignal:
			keepFirst(&c.stopped, e)
		}
	}
	return c
}

func keepFirst(at **sample.Event, e *sample.Event) {
	if *at == nil {
		*at = e
	}
}

// byHighwater is how a run ended that was stopped, by the reason for which it was.
var byHighwater = map[string]struct {
	ended Ended
	why   string
}{
	sample.SignalStalled: {Livelocked, "it lived, and nothing moved any more"},
	sample.SignalTimeout: {TimedOut, "it did not come to its end in time"},
	sample.SignalUnready: {Failed, "it was never ready"},
}

// end says how the run ended, and why it is lost; loaded, that it had a load.
func (c course) end(loaded bool) (Ended, string) {
	if c.killed != nil {
		return Killed, "killed by the kernel"
	}
	if c.stopped == nil && c.exit != nil {
		return c.byItself(loaded)
	}
	if c.stopped != nil {
		if by, ok := byHighwater[c.stopped.Text]; ok {
			return by.ended, by.why
		}
	}
	if c.loadEnd != nil && c.loadEnd.Value != 0 {
		return Failed, strings.TrimRight(fmt.Sprintf("its load ended with code %d: %s", c.loadEnd.Value, lastLine(c.loadEnd.Text)), ": ")
	}
	return Finished, ""
}

// byItself is how a run ended that nobody stopped.
func (c course) byItself(loaded bool) (Ended, string) {
	switch {
	case c.exit.Value != 0:
		return Failed, "ended by itself: " + c.exit.Text
	case loaded && (c.loadEnd == nil || c.loadEnd.At.After(c.exit.At)):
		return Failed, "it ended by itself before its load did"
	}
	return Finished, ""
}

// lastLine is the last line of a text that says something.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// worked is for how long the run did what it was there for; 0: not known.
func (c course) worked() time.Duration {
	from, to := c.loadStart, c.loadEnd
	if from == nil {
		from, to = c.start, c.exit
	}
	for _, end := range []*sample.Event{c.killed, c.stopped, c.exit} {
		if end != nil && (to == nil || end.At.Before(to.At)) {
			to = end
		}
	}
	if from == nil || to == nil {
		return 0
	}
	return to.At.Sub(from.At)
}
