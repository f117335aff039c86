package latency

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestPercentilesAreOfTheNearestRank(t *testing.T) {
	var l Log
	for i := 1; i <= 100; i++ {
		l.Add(time.Duration(i)*time.Millisecond, nil)
	}
	l.Add(time.Hour, errors.New("refused"))
	r := l.Report(time.Second)
	for _, c := range []struct {
		p    float64
		want time.Duration
	}{{0, time.Millisecond}, {50, 50 * time.Millisecond}, {99, 99 * time.Millisecond}, {99.5, 100 * time.Millisecond}, {100, 100 * time.Millisecond}} {
		if got := r.Percentile(c.p); got != c.want {
			t.Errorf("p%g is %s, want %s", c.p, got, c.want)
		}
	}
	if r.Failed != 1 || r.Count() != 100 || r.Over(100*time.Millisecond) != 1 || r.Over(time.Hour) != 0 {
		t.Errorf("failed %d, count %d, over 100 ms %d", r.Failed, r.Count(), r.Over(100*time.Millisecond))
	}
}

func TestAnEmptyLogReportsNothing(t *testing.T) {
	var l Log
	var b strings.Builder
	l.Report(0).Write(&b, "SET")
	if want := "SET: 0 in 0s (0 a second), 0 failed\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestTheReportHasARowForEachDecade(t *testing.T) {
	var l Log
	for _, d := range []time.Duration{0, 870 * time.Microsecond, 1200 * time.Microsecond, 1300 * time.Microsecond, 1240 * time.Millisecond} {
		l.Add(d, nil)
	}
	var b strings.Builder
	l.Report(2*time.Second).Write(&b, "SET")
	for _, want := range []string{"5 in 2s", "100µs - 1ms", "1 (20.00%)", "1ms - 10ms", "2 (40.00%)", "1s - 10s", "1.24s"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
