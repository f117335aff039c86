package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// judgeOutcome says what became of the program. "Killed by the kernel" rests on
// the cgroup's counter of OOM kills alone: a SIGKILL can come from anyone.
func judgeOutcome(e *Evidence) Outcome {
	o := Outcome{State: Running, By: ByNone, Watched: e.Watched, Moment: e.At, At: e.Moment.At.Format(time.RFC3339Nano)}
	o.Elapsed, o.MomentElapsed = e.seconds(e.End), e.seconds(e.Moment.At)
	if limit, ok := e.limit(); ok {
		o.LimitBytes = &limit
	}
	o.PeakBytes = peakOf(e)
	o.PeakHeapBytes = peakHeapOf(e)
	if e.Imported != "" {
		o.State = Seen
	}
	if exit, ok := lastEvent(e, sample.EventExit, e.Subject); ok {
		o.State = Exited
		o.Elapsed = e.seconds(exit.At)
		o.Stopped, o.StopSignal = stoppedByUs(e, exit)
		o.ended(exit)
	}
	if kill, ok := e.oomKill(); ok {
		o.State, o.By, o.Kernel = Killed, limitThatStruck(e), true
		o.Elapsed = e.seconds(kill.At)
		if struck, ok := firstEvent(e, sample.EventOOM); ok && struck.Text != "" {
			limit := sample.Bytes(struck.Value)
			o.LimitBytes, o.LimitOf = &limit, limitOf(struck.Text)
		}
	}
	return o
}

// ended reads how a process ended: its Text is "exit N" or "signal N", Value the
// code as a shell gives it. Anything else was not seen.
func (o *Outcome) ended(exit sample.Event) {
	var code int
	if _, err := fmt.Sscanf(exit.Text, "signal %d", &code); err == nil {
		o.Signal = signalName(syscall.Signal(code))
		if o.Stopped == "" {
			o.State, o.By = Killed, BySignal
		}
		code += 128
	} else if _, err := fmt.Sscanf(exit.Text, "exit %d", &code); err != nil {
		return
	}
	o.ExitCode = &code
}

func signalName(s syscall.Signal) string {
	switch s {
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGABRT:
		return "SIGABRT"
	case syscall.SIGSEGV:
		return "SIGSEGV"
	case syscall.SIGBUS:
		return "SIGBUS"
	case syscall.SIGQUIT:
		return "SIGQUIT"
	case syscall.SIGHUP:
		return "SIGHUP"
	}
	return fmt.Sprintf("signal %d", int(s))
}

// limitThatStruck tells the cgroup's own limit from a parent's and the node's.
// The cgroup's own counter of failed charges settles it; else usage near the
// limit does. A parent's limit is what is left if the machine had memory.
func limitThatStruck(e *Evidence) By {
	if struck, ok := firstEvent(e, sample.EventOOM); ok {
		if whose, _, _ := strings.Cut(struck.Text, " "); whose == sample.LimitAbove {
			return ByParent
		}
		return ByCgroup
	}
	limit, limited := e.limit()
	peak := peakOf(e)
	if limited && peak != nil && *peak+max(limit/16, 4*sample.MiB) >= limit {
		return ByCgroup
	}
	switch left, ok := leastAvailable(e); {
	case !ok:
		return ByNone
	case left < 128*float64(sample.MiB):
		return ByNode
	}
	return ByParent
}

// availableSamples is of how many samples before the end the least MemAvailable counts: two seconds of full readings.
const availableSamples = 20

// limitOf is what the cgroup of an EventOOM belongs to, "container" or "pod", "" where
// that is not known.
func limitOf(text string) string {
	if f := strings.Fields(text); len(f) > 1 && f[1] != "cgroup" {
		return f[1]
	}
	return ""
}

// leastAvailable is the least MemAvailable of the last samples that have it: those between full readings do not.
func leastAvailable(e *Evidence) (float64, bool) {
	least, seen := math.Inf(1), 0
	for _, v := range slices.Backward(e.Ticks.Available) {
		if seen == availableSamples {
			break
		}
		if !math.IsNaN(v) {
			least = min(least, v)
			seen++
		}
	}
	return least, seen > 0
}

// peakOf is the greatest charge seen, or the kernel's own mark where that rose
// during the recording; without a cgroup, the greatest anonymous memory.
func peakOf(e *Evidence) *sample.Bytes {
	peak, ok := greatest(e.Ticks.Usage)
	if c := e.Moment.Cgroup; c != nil {
		peak, ok = max(peak, c.Usage, e.Peak.Or(0)), true
	} else if !ok {
		peak, ok = greatest(e.Ticks.Anon)
		var now sample.Bytes
		for _, p := range e.Moment.Processes {
			now += anonOf(p)
		}
		peak, ok = max(peak, now), ok || now > 0
	}
	if !ok {
		return nil
	}
	return &peak
}

func peakHeapOf(e *Evidence) *sample.Bytes {
	peak, ok := greatest(e.Ticks.HeapAlloc)
	if p := e.process(); p != nil && p.Go != nil {
		peak, ok = max(peak, p.Go.HeapAlloc()), true
	}
	if !ok {
		return nil
	}
	return &peak
}

func greatest(column []float64) (sample.Bytes, bool) {
	most, ok := 0.0, false
	for _, v := range column {
		if !math.IsNaN(v) {
			most, ok = max(most, v), true
		}
	}
	return sample.Bytes(most), ok
}

func firstEvent(e *Evidence, kind sample.EventKind) (sample.Event, bool) {
	for _, ev := range e.Events {
		if ev.Kind == kind {
			return ev, true
		}
	}
	return sample.Event{}, false
}

func lastEvent(e *Evidence, kind sample.EventKind, key sample.ProcessKey) (sample.Event, bool) {
	for i := len(e.Events) - 1; i >= 0; i-- {
		if ev := e.Events[i]; ev.Kind == kind && ev.Process == key {
			return ev, true
		}
	}
	return sample.Event{}, false
}

// ending are the signals that highwater sends or passes on to end a program.
var ending = []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT}

// stopGrace is how long after a signal that was passed on an end by itself still
// counts as the answer to it: a SIGHUP long before was another matter.
const stopGrace = 30 * time.Second

// stoppedByUs says why highwater sent or passed on a signal that ends programs
// before the exit, and which. The last one counts, but for a SIGKILL that follows
// where another did not help. Ctrl-C reaches both: the program may be held at its end before highwater has noted the signal.
func stoppedByUs(e *Evidence, exit sample.Event) (Stopped, string) {
	var last *sample.Event
	until := exit.At
	if released, held := e.Released[exit.Process]; held {
		until = released
	}
	for i := range e.Events {
		sent := &e.Events[i]
		if sent.Kind != sample.EventSignal || sent.At.After(until) || !slices.Contains(ending, syscall.Signal(sent.Value)) {
			continue
		}
		if last == nil || syscall.Signal(sent.Value) != syscall.SIGKILL {
			last = sent
		}
	}
	if last == nil {
		return "", ""
	}
	name := signalName(syscall.Signal(last.Value))
	switch last.Text {
	case sample.SignalForwarded:
		if exit.Text != fmt.Sprintf("signal %d", last.Value) && exit.At.Sub(last.At) > stopGrace {
			return "", ""
		}
		return StoppedForwarded, name
	case sample.SignalTime, sample.SignalTimeout, sample.SignalStalled:
		return StoppedTime, name
	case sample.SignalLoadEnd:
		return StoppedLoad, name
	case sample.SignalUnready:
		return StoppedUnready, name
	}
	return stoppedUnsaid(e, *last), name
}

// stoppedUnsaid is why, where the event does not say: by the signal, and by what
// came before it.
func stoppedUnsaid(e *Evidence, sent sample.Event) Stopped {
	if syscall.Signal(sent.Value) == syscall.SIGINT {
		return StoppedInterrupt
	}
	for _, before := range e.Events {
		if before.Kind == sample.EventLoadEnd && !before.At.After(sent.At) {
			return StoppedLoad
		}
	}
	return StoppedAsked
}
