package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A large image was decoded: 498 MiB for a second in a program of 28, all of it free again when its peak was looked at.
func TestALargeValueThatHasGoneIsABurstWithoutALimitToo(t *testing.T) {
	for name, k := range map[string]struct {
		usual, largest, second float64
		live                   float64
		want                   bool
	}{
		"two values":                   {28, 198, 170, 10, true},
		"none is as large":             {28, 40, 20, 10, false},
		"a table that is loaded again": {200, 198, 0, 10, false},
		"it is still live":             {28, 198, 170, 300, false},
	} {
		s := newScene()
		s.Moment.Cgroup.Limit = sample.Opt[sample.Bytes]{}
		s.heap(10, k.live, k.live+2)
		s.p.Residency.GoIdle = bytesOf(480 - k.live)
		s.charge()
		s.Ticks.Anon = nil
		for i := range s.Ticks.At {
			usage := k.usual
			if i == 15 {
				usage = 498
			}
			s.Ticks.Usage[i], s.Ticks.PageCache[i] = usage*float64(mib), 0
		}
		for line, n := range map[int]float64{78: k.largest, 74: k.second} {
			at := sample.Place{Function: "main.thumbnail", File: "/build/thumb/main.go", Line: line}
			s.Allocators = append(s.Allocators, Allocator{Place: at, Largest: bytesOf(n)})
		}
		f, found := newCase(s.Evidence).passedValues()
		said := strings.Contains(f.Sentence, "to 498 MiB and fell again. One value of 198 MiB was allocated at once at thumb/main.go:78.")
		if found != k.want || found && (f.Confidence != Medium || !said) {
			t.Errorf("%s: %v %s, %s", name, found, f.Confidence, f.Sentence)
		}
	}
}

// A function that was in flight all along has a tenth of what came and went: it did not make that, where nothing came of it.
func TestTheOneCallThatWasThereAllAlongDidNotMakeAPeak(t *testing.T) {
	for standing, want := range map[bool]bool{true: true, false: false} {
		s := newScene()
		c := newCase(s.Evidence)
		c.pressed, c.site = false, &Site{Bytes: 60 * mib}
		c.live.bytes, c.live.exact, c.curve.min, c.curve.floor = 220*mib, true, 24*float64(mib), 36*float64(mib)
		c.inFlight.calls, c.inFlight.standing = 1, standing
		if got := c.ofLittle(); got != want {
			t.Errorf("standing %v: of little %v", standing, got)
		}
	}
}
