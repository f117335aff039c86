package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// upTo are the numbers from one on.
func upTo(from uint64, n int) (ids []uint64) {
	for i := range n {
		ids = append(ids, from+uint64(i))
	}
	return ids
}

// Goroutines pile up in two ways: none ends, or more begin than end. Their numbers tell which.
func TestNumbersOfGoroutinesTellWhetherTheyFinish(t *testing.T) {
	for name, k := range map[string]struct {
		before, now []uint64
		class       Class
		says, not   string
	}{
		"all are there":                {upTo(20, 16), upTo(20, 16), Goroutines, "the 16 oldest of them already waited there", ""},
		"fewer were known before":      {upTo(20, 9), upTo(20, 16), Goroutines, "the 9 oldest of them already waited there", ""},
		"all have left":                {upTo(20, 16), upTo(900, 16), Burst, "calls of push.wait were in flight", "already"},
		"nine of sixteen have left":    {upTo(20, 16), upTo(29, 16), Burst, "calls of push.wait were in flight", "already"},
		"seven of sixteen have left":   {upTo(20, 16), upTo(27, 16), Goroutines, "", "already"},
		"numbers are not known":        {nil, nil, Goroutines, "", "already"},
		"one has left":                 {upTo(20, 16), upTo(21, 16), Goroutines, "", "already"},
		"older ones came to the place": {upTo(300, 16), upTo(20, 16), Goroutines, "", "already"},
	} {
		s := workScenes["thousands of goroutines that never end"]()
		for i := range s.p.Goroutines {
			s.p.Goroutines[i].IDs = k.now
		}
		before := s.p.Goroutines[0]
		before.IDs = k.before
		s.Numbered = []lookAtIDs{{s.Start.Add(time.Duration(0.6 * float64(s.Moment.At.Sub(s.Start)))), withNumbers([]sample.GoroutineGroup{before})}}
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := a.Verdict.Sentence
		for _, w := range a.Verdict.Why {
			text += "\n" + w.Text
		}
		text += strings.Join(a.Verdict.Reasons, "; ")
		if a.Verdict.Class != k.class || !strings.Contains(text, k.says) || k.not != "" && strings.Contains(text, k.not) {
			t.Errorf("%s: %s: %s", name, a.Verdict.Class, text)
		}
		c := newCase(s.Evidence) // and calls that were seen to begin one after the other do not gather then
		if c.inFlight.gather = 20; c.finish() != (k.class == Burst) {
			t.Errorf("%s: of %d calls: %v", name, c.inFlight.calls, c.finish())
		}
	}
}
