package trial

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// happened is an event some milliseconds after the start.
func happened(ms int, kind sample.EventKind, value int64, text string) sample.Event {
	return sample.Event{At: time.UnixMilli(int64(1_000_000 + ms)), Kind: kind, Process: sample.ProcessKey{PID: 7}, Value: value, Text: text}
}

func TestHowARunEndedIsReadFromItsEvents(t *testing.T) {
	start, load := happened(0, sample.EventStart, 0, ""), happened(100, sample.EventLoadStart, 0, "./load.sh")
	loaded := func(code int64, said string) sample.Event { return happened(600, sample.EventLoadEnd, code, said) }
	stopped := happened(601, sample.EventSignal, 15, sample.SignalLoadEnd)
	for _, c := range []struct {
		name   string
		load   bool
		events []sample.Event
		want   Ended
		why    string
		worked time.Duration
	}{
		{"its own end", false, []sample.Event{start, happened(900, sample.EventExit, 0, "exit 0")}, Finished, "", 900 * time.Millisecond},
		{"the load's end", true, []sample.Event{start, load, loaded(0, ""), stopped, happened(700, sample.EventExit, 143, "signal 15")}, Finished, "",
			500 * time.Millisecond},
		{"its own end before the load's", true, []sample.Event{start, load, happened(300, sample.EventExit, 0, "exit 0"), loaded(143, "")}, Failed,
			"it ended by itself before its load did", 200 * time.Millisecond},
		{"its own end before it was ready", true, []sample.Event{start, happened(300, sample.EventExit, 0, "exit 0")}, Failed,
			"it ended by itself before its load did", 300 * time.Millisecond},
		{"its own end when the load had ended", true, []sample.Event{start, load, loaded(0, ""), happened(700, sample.EventExit, 0, "exit 0")}, Finished, "",
			500 * time.Millisecond},
		{"the end of --for", false, []sample.Event{start, happened(500, sample.EventSignal, 15, sample.SignalTime),
			happened(510, sample.EventExit, 143, "signal 15")}, Finished, "", 500 * time.Millisecond},
		{"killed", true, []sample.Event{start, load, happened(400, sample.EventOOMKill, 1, ""), happened(401, sample.EventExit, 137, "signal 9"), loaded(1, "EOF")},
			Killed, "killed by the kernel", 300 * time.Millisecond},
		{"a child killed", false, []sample.Event{start, happened(400, sample.EventOOMKill, 1, ""), happened(900, sample.EventExit, 0, "exit 0")}, Killed,
			"killed by the kernel", 400 * time.Millisecond},
		{"a failed load", true, []sample.Event{start, load, loaded(7, "one\nno answer\n"), stopped, happened(700, sample.EventExit, 143, "signal 15")}, Failed,
			"its load ended with code 7: no answer", 500 * time.Millisecond},
		{"a crash under load", true, []sample.Event{start, load, happened(300, sample.EventExit, 2, "exit 2"), loaded(1, "refused")}, Failed,
			"ended by itself: exit 2", 200 * time.Millisecond},
		{"somebody's SIGKILL", false, []sample.Event{start, happened(300, sample.EventExit, 137, "signal 9")}, Failed, "ended by itself: signal 9",
			300 * time.Millisecond},
		{"never ready", true, []sample.Event{start, happened(300, sample.EventSignal, 15, sample.SignalUnready), happened(301, sample.EventExit, 143, "signal 15")},
			Failed, "it was never ready", 300 * time.Millisecond},
		{"out of time", true, []sample.Event{start, load, happened(900, sample.EventSignal, 15, sample.SignalTimeout), happened(901, sample.EventExit, 0, "exit 0")},
			TimedOut, "it did not come to its end in time", 800 * time.Millisecond},
		{"livelocked", true, []sample.Event{start, load, happened(900, sample.EventSignal, 15, sample.SignalStalled), happened(901, sample.EventSignal, 9, ""),
			happened(905, sample.EventExit, 137, "signal 9")}, Livelocked, "it lived, and nothing moved any more", 800 * time.Millisecond},
	} {
		course := courseOf(c.events)
		ended, why := course.end(c.load)
		if ended != c.want || why != c.why {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, ended, why, c.want, c.why)
		}
		if got := course.worked(); got != c.worked {
			t.Errorf("%s: worked for %v, want %v", c.name, got, c.worked)
		}
	}
}

func TestAPercentileIsTheNearestRank(t *testing.T) {
	var values []float64
	for i := 100; i >= 1; i-- {
		values = append(values, float64(i))
	}
	for share, want := range map[float64]float64{0.5: 50, 0.99: 99, 1: 100, 0.001: 1} {
		if got := Percentile(values, share); got != want {
			t.Errorf("%v: %v, want %v", share, got, want)
		}
	}
}
