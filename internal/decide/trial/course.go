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

// end says how the run ended, and why it is lost; loaded, that it had a load.
func (c course) end(loaded bool) (Ended, string) {
	reason := ""
	if c.stopped != nil {
		reason = c.stopped.Text
	}
	byItself := c.exit != nil && c.stopped == nil
	switch {
	case c.killed != nil:
		return Killed, "killed by the kernel"
	case reason == sample.SignalStalled:
		return Livelocked, "it lived, and nothing moved any more"
	case reason == sample.SignalTimeout:
		return TimedOut, "it did not come to its end in time"
	case reason == sample.SignalUnready:
		return Failed, "it was never ready"
	case byItself && c.exit.Value != 0:
		return Failed, "ended by itself: " + c.exit.Text
	case byItself && loaded && (c.loadEnd == nil || c.loadEnd.At.After(c.exit.At)):
		return Failed, "it ended by itself before its load did"
	case !byItself && c.loadEnd != nil && c.loadEnd.Value != 0:
		return Failed, strings.TrimRight(fmt.Sprintf("its load ended with code %d: %s", c.loadEnd.Value, lastLine(c.loadEnd.Text)), ": ")
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
