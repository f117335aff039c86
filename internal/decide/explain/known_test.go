package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestTheLimitThatWasHitIsNamedByWhatItIsOf(t *testing.T) {
	for text, want := range map[string]string{
		"own container /docker/3f4e":  "the limit that was hit is the limit of the container",
		"above pod /kubepods/pod8a1b": "the limit that was hit is the limit of the pod",
		"own cgroup /highwater-1":     "the limit that was hit is the program's own cgroup limit",
		"above cgroup":                "the limit that was hit belongs to a parent cgroup",
	} {
		s := newScene()
		s.oom(false, 8*sample.GiB)
		s.Events = append(s.Events, sample.Event{At: s.End, Kind: sample.EventOOM, Value: int64(96 * mib), Text: text})
		c := &Case{Evidence: s.Evidence, outcome: judgeOutcome(s.Evidence)}
		if got := c.known(); !slices.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestThatThereIsNoHeapProfileIsSaidOnce(t *testing.T) {
	s := newScene()
	c := &Case{Evidence: s.Evidence, proc: &sample.ProcessMoment{}, g: &sample.Runtime{}}
	c.Sites = nil
	if got := c.missing(nil); len(got) != 1 || !strings.HasSuffix(got[0], noProfile) {
		t.Errorf("missing: %q", got)
	}
	if got := c.missing([]string{"which line the rise belongs to, " + noProfile}); len(got) != 0 {
		t.Errorf("said already, and again: %q", got)
	}
}
