package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/measure/budget"
	"github.com/highwater-go/highwater/internal/measure/latency"
)

func latencies() *latency.Latency {
	p99, p999 := int64(34*time.Millisecond), int64(2800*time.Millisecond)
	l := &latency.Latency{Probe: "SET redis://127.0.0.1:6379", Requests: 12_040, Recorded: 12_040, Failed: 3,
		Failures: []latency.Failure{{Why: "the connection was closed", Requests: 3}},
		P50:      int64(1200 * time.Microsecond), P90: int64(2 * time.Millisecond), P99: &p99, P999: &p999, Max: int64(3100 * time.Millisecond),
		Sentence: "120 waits of 34 ms or more came in 12 episodes. In 78% of that time GC was running, against 6% of all the time (by chance: less than 1 in 200). Goroutines that allocated had to help GC for 4.0 s of CPU time"}
	for from, n := int64(time.Microsecond), 2; from < int64(4*time.Second); from *= 2 {
		l.Histogram = append(l.Histogram, latency.Bucket{From: from, To: 2 * from, Requests: n})
		n = n * 3 % 5000
	}
	for i := range 20 {
		s := latency.Step{At: float64(30 * i), Requests: 600}
		if i != 7 {
			s.P50, s.Max = &l.P50, &l.Max
		}
		l.Course = append(l.Course, s)
	}
	return l
}

func TestLatenciesFitAPage(t *testing.T) {
	var b bytes.Buffer
	if err := LatencyText(&b, latencies(), Options{Next: "highwater explain store-1"}); err != nil {
		t.Fatal(err)
	}
	page := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(page) > lines {
		t.Errorf("%d lines\n%s", len(page), b.String())
	}
	for _, line := range page {
		if columns(line) > 100 {
			t.Errorf("%d columns: %s", columns(line), line)
		}
	}
	for _, want := range []string{"p99.9", "2.8 s", "no request", "against 6% of all the time", "3 failed (the connection was closed)",
		"highwater explain store-1"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestAnAnswerWithAllThatWasAskedFitsAPage(t *testing.T) {
	for name, a := range answers(t) {
		a.Latency = latencies()
		a.Work = &explain.Work{Sentence: "the live heap grows by 83 B (80 B to 86 B) for each of http_requests_total (r=0.99), and with it rather than with time"}
		a.Expected = &budget.Expectation{Sentence: "200.0 MiB, measured 256.0 MiB without page cache: 56.0 MiB too much. Largest difference: garbage, 93.0 MiB beside 150.0 MiB of live heap, as GOGC=100 allows"}
		for range 2 {
			page := text(t, a, Options{})
			if n := strings.Count(page, "\n"); n > lines {
				t.Errorf("%s: %d lines\n%s", name, n, page)
			}
			for _, want := range []string{"\nWORK  ", "\nEXPECTED  ", "\nREQUESTS  "} {
				if !strings.Contains(page, want) {
					t.Errorf("%s: no %q in\n%s", name, want, page)
				}
			}
			lengthen(a)
		}
	}
}
