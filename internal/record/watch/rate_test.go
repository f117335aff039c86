package watch

import (
	"testing"
	"time"
)

// The runtime counts an object before it samples it: whoever looks in between sees a
// profile in which it is missing.
func TestAnObjectThatIsUnderWayIsNoChangeOfTheRate(t *testing.T) {
	t.Parallel()
	const mib, rate = 1 << 20, 4096
	start := time.Unix(1_700_000_000, 0)
	type look struct {
		after            time.Duration
		sampled, counted float64
		missing          bool
	}
	for name, looks := range map[string][]look{
		"at the first look":  {{0, 0, 16 * mib, false}, {5 * time.Second, 16 * mib, 16 * mib, false}},
		"at two, one soon":   {{0, 0, 16 * mib, false}, {time.Second, 0, 16 * mib, false}, {5 * time.Second, 16 * mib, 16 * mib, false}},
		"another each time":  {{0, 0, 64 * mib, false}, {5 * time.Second, 64 * mib, 128 * mib, false}, {10 * time.Second, 128 * mib, 192 * mib, false}},
		"it is still absent": {{0, 0, 16 * mib, false}, {5 * time.Second, 0, 16 * mib, true}},
		"later":              {{0, mib, mib, false}, {5 * time.Second, mib, 64 * mib, false}, {10 * time.Second, mib, 64 * mib, true}},
	} {
		t.Run(name, func(t *testing.T) {
			var c counted
			for i, l := range looks {
				if before, missing := c.without(l.sampled, l.counted, rate, start.Add(l.after)); missing != l.missing {
					t.Errorf("look %d: missing %v of %.0f, want %v", i, missing, before, l.missing)
				}
			}
		})
	}
}
