package latency_test

import (
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest/recorded"
	"github.com/highwater-go/highwater/internal/measure/latency"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestSlowRequestsAreTiedToWhatCoincidesWithThem(t *testing.T) {
	stops := recorded.Every(11.3, 0.4, 3)
	for _, c := range []struct {
		name      string
		wait      func(float64) time.Duration
		marks     []latency.Stretch
		coincides bool
		says      string
	}{
		{"they wait for collections", recorded.Until(stops), stops, true, "of that time GC was running"},
		{"collections at other times", recorded.Until(stops), recorded.Every(11.3, 0.4, 8), false, "do not coincide with collections (0% of their time, 3% of all)"},
		{"collections nearly all the time", recorded.Until(stops), recorded.Every(1, 0.95, 0), false,
			"GC ran for 95% of all the time, so nearly every request met it"},
		{"no collection at all", recorded.Until(stops), nil, false, "do not coincide with anything that was seen"},
		{"one pause", recorded.Until(stops[:1]), stops, false, "too few to tell their cause. In more than 99% of that time GC was running"},
		{"none is slow", func(float64) time.Duration { return 0 }, stops, false, "No request was slow: 99 of 100 were answered within 2 ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := latency.Of(recorded.Probed(c.wait, c.marks))
			got := false
			for _, cause := range l.Slow.Causes {
				got = got || cause.Coincides
			}
			if got != c.coincides || !strings.Contains(l.Sentence, c.says) {
				t.Errorf("coincides %v: %s", got, l.Sentence)
			}
		})
	}
}

// A recording may hold any figure.
func TestAWaitOfCenturiesHasAHistogram(t *testing.T) {
	for _, wait := range []time.Duration{6592358403933606482, 1<<63 - 1e9, -1 << 62} {
		l := latency.Of(recorded.Probed(func(float64) time.Duration { return wait }, nil))
		sum := 0
		for _, b := range l.Histogram {
			if b.Requests < 0 || b.To <= b.From {
				t.Errorf("%v: %+v", wait, b)
			}
			sum += b.Requests
		}
		if sum != l.Requests || len(l.Histogram) > 100 {
			t.Errorf("%v: %d of %d requests in %d buckets", wait, sum, l.Requests, len(l.Histogram))
		}
	}
}

func TestPercentilesAreOfTheNearestRankAndNoneIsMadeUp(t *testing.T) {
	run := &latency.Run{Start: recorded.Began}
	for i := range 1000 {
		r := sample.Request{Due: recorded.Began.Add(time.Duration(i) * 10 * time.Millisecond), Took: time.Duration(i+1) * time.Millisecond}
		switch {
		case i == 998:
			r.Failure = "the connection was closed"
		case i == 999:
			r.Took, r.Waited, r.Failure = 0, 7*time.Second, sample.NoAnswer
		}
		run.Requests = append(run.Requests, r)
	}
	l := latency.Of(run)
	if l.Requests != 999 || l.Failed != 1 || l.NoAnswer != 1 || l.Failures[0].Why != "the connection was closed" {
		t.Errorf("%d timed, %d failed, %d without an answer", l.Requests, l.Failed, l.NoAnswer)
	}
	if l.P50 != 500e6 || l.P90 != 900e6 || *l.P99 != 990e6 || l.P999 != nil || l.Max != 7e9 {
		t.Errorf("p50 %d p90 %d p99 %d p99.9 %v max %d", l.P50, l.P90, *l.P99, l.P999, l.Max)
	}
	sum := 0
	for i, b := range l.Histogram {
		sum += b.Requests
		if i > 0 && b.From != l.Histogram[i-1].To {
			t.Errorf("bucket %d begins at %d", i, b.From)
		}
	}
	if sum != 999 || l.Histogram[0].From != 1e6 || len(l.Course) != 20 {
		t.Errorf("%d in the histogram, which begins at %d; %d steps", sum, l.Histogram[0].From, len(l.Course))
	}
	run.Requests = run.Requests[:99]
	if l := latency.Of(run); l.P99 != nil || !strings.Contains(l.Sentence, "Too few") {
		t.Errorf("99 requests: p99 %v, %s", l.P99, l.Sentence)
	}
}

func TestAProbeThatOnlyFailedSaysSo(t *testing.T) {
	run := &latency.Run{Start: recorded.Began}
	run.Probe = "PING redis://127.0.0.1:6379"
	run.Requests = []sample.Request{{Due: recorded.Began, Failure: "nobody listens there"}}
	if l := latency.Of(run); l.Requests != 0 || !strings.Contains(l.Line(), "none answered") || !strings.Contains(l.Sentence, "nobody listens there") {
		t.Errorf("%s. %s", l.Line(), l.Sentence)
	}
}

// An hour of 20 requests a second, and a collection every other second.
func BenchmarkLatencyOfAnHour(b *testing.B) {
	run := &latency.Run{Start: recorded.Began}
	for i := range 72_000 {
		r := sample.Request{Due: recorded.Began.Add(time.Duration(i) * 50 * time.Millisecond), Took: time.Millisecond}
		if i%90 == 0 {
			r.Took = 200 * time.Millisecond
		}
		run.Requests = append(run.Requests, r)
	}
	for at := 0.0; at < 3600; at += 2 {
		run.Marks = append(run.Marks, latency.Stretch{at, at + 0.1})
	}
	b.ReportAllocs()
	for b.Loop() {
		if l := latency.Of(run); l.Slow.Requests == 0 {
			b.Fatal("nothing was slow")
		}
	}
}
