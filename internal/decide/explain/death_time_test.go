package explain

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// A program ends when it is held for its last reading, however long that takes.
func TestAProgramEndsAtItsLastReading(t *testing.T) {
	other := sample.ProcessKey{PID: 7, Start: 1}
	events := []sample.Event{
		{At: began, Kind: sample.EventStart, Process: subject},
		{At: began.Add(40 * time.Second), Kind: sample.EventExit, Process: subject, Text: "exit 0"},
		{At: began.Add(41 * time.Second), Kind: sample.EventExit, Process: other, Text: "exit 0"},
	}
	moments := []recording.MomentInfo{
		{At: began.Add(9 * time.Second), Kind: sample.MomentMax, Processes: []recording.ProcessMomentInfo{{Key: subject}}},
		{At: began.Add(36 * time.Second), Kind: sample.MomentDeath, Processes: []recording.ProcessMomentInfo{{Key: subject}}},
	}
	got, released := endedAtTheirDeath(events, moments)
	for i, want := range []time.Duration{0, 36*time.Second + time.Millisecond, 41 * time.Second} {
		if at := got[i].At.Sub(began); at != want {
			t.Errorf("event %d at %s, want %s", i, at, want)
		}
	}
	if at := released[subject].Sub(began); at != 40*time.Second || len(released) != 1 {
		t.Errorf("released at %s: %v", at, released)
	}
	if at := events[1].At.Sub(began); at != 40*time.Second {
		t.Errorf("the recording's own event is at %s now", at)
	}
}
