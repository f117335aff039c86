package explain

import (
	"testing"
	"time"
)

// A cache of C code that fills within seconds is no leak, whatever its rate; what grows for
// half a minute is told, and not with high confidence where it is a small part.
func TestNativeMemoryThatFillsForSecondsIsNoLeak(t *testing.T) {
	for _, c := range []struct {
		rise       time.Duration
		class      Class
		confidence Confidence
	}{
		{4 * time.Second, PageCache, High},
		{30 * time.Second, Native, Medium},
	} {
		s := newScene()
		s.native(8)
		s.Moment.Cgroup.Stat.PageCache = 225 * mib
		s.Moment.At, s.End = began.Add(c.rise), began.Add(c.rise)
		s.Events[1].At = s.End
		s.charge()
		for i := range s.Ticks.Anon { // nothing else grew
			rest := float64(s.p.Residency.CMalloc) - s.Ticks.Native[i]
			s.Ticks.Anon[i] = float64(s.p.Residency.Anon) - rest
			s.Ticks.Usage[i] = s.Ticks.PageCache[i] + float64(s.Moment.Cgroup.Usage-s.Moment.Cgroup.Stat.PageCache) - rest
		}
		s.cycles(10, 9, 10, 9, 10, 9, 10, 10, 9)
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Verdict.Class != c.class || a.Verdict.Confidence != c.confidence {
			t.Errorf("%s: %s (%s): %s", c.rise, a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Sentence)
		}
	}
}

// A program of which native memory grew until it ended, in seconds, is neither healthy nor a leak: it is not known
// whether that goes on.
func TestNativeMemoryThatRoseUntilTheEndIsNotHealthy(t *testing.T) {
	s := newScene()
	s.native(20)
	s.Moment.At, s.End = began.Add(8*time.Second), began.Add(8*time.Second)
	s.Events[1].At = s.End
	s.charge()
	for i := range s.Ticks.Anon {
		rest := float64(s.p.Residency.CMalloc) - s.Ticks.Native[i]
		s.Ticks.Anon[i] = float64(s.p.Residency.Anon) - rest
		s.Ticks.Usage[i] = s.Ticks.PageCache[i] + float64(s.Moment.Cgroup.Usage-s.Moment.Cgroup.Stat.PageCache) - rest
	}
	s.cycles(10, 9, 10, 9, 10, 9, 10, 10, 9)
	a, err := Explain(s.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Verdict.Class != Inconclusive {
		t.Errorf("%s (%s): %s", a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Sentence)
	}
}
