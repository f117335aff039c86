package explain

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Where channels become more themselves, and none of them fuller, what piles up is who has them. A few channels that fill are a queue.
func TestChannelsThatBecomeMoreAreNoQueue(t *testing.T) {
	for _, k := range []struct {
		was, now CapturedChannels
		want     bool
	}{
		{CapturedChannels{29, 2600}, CapturedChannels{286, 26000}, true},
		{CapturedChannels{29, 2600}, CapturedChannels{286, 26000 * 3}, false}, // and fuller
		{CapturedChannels{29, 2600}, CapturedChannels{30, 26000}, false},
		{CapturedChannels{1, 90}, CapturedChannels{2, 180}, false}, // too few to tell
		{CapturedChannels{}, CapturedChannels{286, 26000}, false},
	} {
		s := newScene()
		const name = "(*hub.session).out"
		s.Captures = []Captured{{At: 5, Channels: map[string]CapturedChannels{name: k.was}}}
		s.Heap = &sample.HeapCapture{At: s.Moment.At, LiveBytes: 100 * mib,
			Collections: []sample.HeapCollection{{Kind: "channel", Name: name, Count: k.now.Count, Entries: k.now.Entries, Room: 2 * k.now.Entries, Bytes: 90 * mib}}}
		c := newCase(s.Evidence)
		if got := c.isChannelEach(name); got != k.want {
			t.Errorf("%v, then %v: %v", k.was, k.now, got)
		}
		if got := c.queued() < 0.5; got != k.want {
			t.Errorf("%v, then %v: %.2f of the heap are queues", k.was, k.now, c.queued())
		}
	}
}

// Of goroutines whose stacks were not read as the program ended, what the look before it found is said.
func TestGoroutinesThatWereGoneAreKnownFromTheLookBefore(t *testing.T) {
	s := workScenes["thousands of goroutines that never end"]()
	want, err := Explain(s.Evidence, nil)
	if err != nil || want.Verdict.Class != Goroutines {
		t.Fatalf("%v: %s", err, want.Verdict.Class)
	}
	all := slices.Clone(s.p.Goroutines)
	s.p.Goroutines = slices.Clone(all[:1])
	s.p.Goroutines[0].Count = min(s.p.Goroutines[0].Count, 1)
	if a, err := Explain(s.Evidence, nil); err != nil || a.Verdict.Class == Goroutines {
		t.Errorf("%v: %s, from a stack of one", err, a.Verdict.Class)
	}
	s.Stood, s.StoodAt = all, s.Moment.At.Add(-2*time.Second)
	if a, err := Explain(s.Evidence, nil); err != nil || a.Verdict.Class != Goroutines || a.Verdict.Culprit.Place != want.Verdict.Culprit.Place {
		t.Errorf("%v: %s, %+v", err, a.Verdict.Class, a.Verdict.Culprit)
	} else if said := strings.Join(a.Verdict.Reasons, "; "); !strings.Contains(said, "read 2.0 s before the kill") {
		t.Errorf("when the stacks were read is not said: %s", said)
	}
}
