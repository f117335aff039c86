package explain

import (
	"slices"
	"testing"
)

// Of what was seen of a program for its first minute alone, a cache that fills and a leak look the same.
func TestTheFirstMinuteIsLessSure(t *testing.T) {
	for name, c := range map[string]struct {
		was    Verdict
		of     Outcome
		load   string
		watch  bool
		want   Confidence
		reason string
	}{
		"a leak that still runs":           {Verdict{Class: Leak, Confidence: Medium}, Outcome{State: Running, Elapsed: 20}, "", false, Low, doubtFirstMinute},
		"a leak that we stopped":           {Verdict{Class: Leak, Confidence: High}, Outcome{Stopped: StoppedTime, Elapsed: 59}, "", false, Medium, doubtFirstMinute},
		"a queue":                          {Verdict{Class: Backlog, Confidence: High}, Outcome{State: Running, Elapsed: 20}, "", false, Medium, doubtFirstMinute},
		"health":                           {Verdict{Class: Healthy, Confidence: High}, Outcome{State: Running, Elapsed: 20}, "", false, Medium, doubtShortWatch},
		"health that was watched":          {Verdict{Class: Healthy, Confidence: High}, Outcome{State: Running, Elapsed: 20}, "", true, Medium, doubtShortWatch},
		"after a minute":                   {Verdict{Class: Leak, Confidence: High}, Outcome{State: Running, Elapsed: 60}, "", false, High, ""},
		"a leak in what ran before":        {Verdict{Class: Leak, Confidence: High}, Outcome{State: Running, Elapsed: 20}, "", true, High, ""},
		"a leak that the kernel ended":     {Verdict{Class: Leak, Confidence: High}, Outcome{State: Killed, Elapsed: 20}, "", false, High, ""},
		"goroutines wait or they do not":   {Verdict{Class: Goroutines, Confidence: Medium}, Outcome{State: Running, Elapsed: 20}, "", false, Medium, ""},
		"under the load that was asked of": {Verdict{Class: Healthy, Confidence: High}, Outcome{State: Running, Elapsed: 20}, "hey", false, High, ""},
	} {
		s := newScene()
		s.Watched, s.Load = c.watch, c.load
		k := &Case{Evidence: s.Evidence, outcome: c.of}
		v := c.was
		k.doubtYoung(&v)
		if v.Confidence != c.want || (c.reason != "") != slices.Contains(v.Reasons, c.reason) {
			t.Errorf("%s: %s, %q", name, v.Confidence, v.Reasons)
		}
	}
}
