package explain

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/sample"
)

// probed is a run of two minutes with 20 requests a second; wait says how long the
// program makes one wait that is due then.
func probed(wait func(at float64) time.Duration, marks []Stretch) *Case {
	s := newScene()
	s.End = began.Add(2 * time.Minute)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 2400 {
		at := float64(i) / 20
		r := sample.Request{Due: began.Add(durationOf(at)), Took: time.Millisecond + time.Duration(rng.IntN(1000))*time.Microsecond, Status: 200}
		r.Took += wait(at)
		s.Asked.Requests = append(s.Asked.Requests, r)
	}
	s.Asked.Probe, s.Asked.All, s.Asked.Marks = "GET http://127.0.0.1:8080/", 2400, marks
	return newCase(s.Evidence)
}

// every are stretches of a length each so many seconds.
func every(step, length, shift float64) (list []Stretch) {
	for at := shift; at < 120; at += step {
		list = append(list, Stretch{at, at + length})
	}
	return list
}

// until is a wait to the end of the stretch that an instant lies in.
func until(list []Stretch) func(at float64) time.Duration {
	return func(at float64) time.Duration {
		for _, s := range list {
			if at >= s.From && at < s.To {
				return durationOf(s.To - at)
			}
		}
		return 0
	}
}

func TestSlowRequestsAreTiedToWhatCoincidesWithThem(t *testing.T) {
	stops := every(11.3, 0.4, 3)
	for _, c := range []struct {
		name      string
		wait      func(float64) time.Duration
		marks     []Stretch
		coincides bool
		says      string
	}{
		{"they wait for collections", until(stops), stops, true, "of that time GC was running"},
		{"collections at other times", until(stops), every(11.3, 0.4, 8), false, "do not coincide with collections (0% of their time, 3% of all)"},
		{"collections nearly all the time", until(stops), every(1, 0.95, 0), false, "GC ran for 95% of all the time, so nearly every request met it"},
		{"no collection at all", until(stops), nil, false, "do not coincide with anything that was seen"},
		{"one pause", until(stops[:1]), stops, false, "too few to tell their cause. In more than 99% of that time GC was running"},
		{"none is slow", func(float64) time.Duration { return 0 }, stops, false, "No request was slow: 99 of 100 were answered within 2 ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := latencyOf(probed(c.wait, c.marks))
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

// Waits and marks that know nothing of each other coincide in few of many runs.
// A recording may hold any figure.
func TestAWaitOfCenturiesHasAHistogram(t *testing.T) {
	for _, wait := range []time.Duration{6592358403933606482, 1<<63 - 1e9, -1 << 62} {
		l := latencyOf(probed(func(float64) time.Duration { return wait }, nil))
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

func TestChanceIsSeldomTakenForACause(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const runs = 300
	wrong := 0
	for range runs {
		slow, marks := randomly(rng, 12), randomly(rng, 40)
		if tie("collections", slow, marks, 0, 120).Chance <= rare {
			wrong++
		}
	}
	if wrong > runs*3/100 {
		t.Errorf("%d of %d coincide", wrong, runs)
	}
}

func randomly(rng *rand.Rand, n int) (list []Stretch) {
	for range n {
		at := 120 * rng.Float64()
		list = append(list, Stretch{at, at + rng.Float64()})
	}
	return united(list)
}

func TestCoverCountsAroundTheEnd(t *testing.T) {
	c := newCover([]Stretch{{-5, 1}, {4, 6}, {9, 20}}, 0, 10)
	for _, k := range []struct{ a, b, want float64 }{{0, 10, 4}, {0, 1, 1}, {0.5, 4.5, 1}, {5, 5.5, 0.5}, {6, 9, 0}, {9.5, 10.5, 1}, {14, 16, 2}, {9, 19, 4}} {
		if got := c.around(k.a, k.b); math.Abs(got-k.want) > 1e-9 {
			t.Errorf("%v to %v: %v, want %v", k.a, k.b, got, k.want)
		}
	}
}

func TestPercentilesAreOfTheNearestRankAndNoneIsMadeUp(t *testing.T) {
	s := newScene()
	for i := range 1000 {
		r := sample.Request{Due: began.Add(time.Duration(i) * 10 * time.Millisecond), Took: time.Duration(i+1) * time.Millisecond}
		switch {
		case i == 998:
			r.Failure = "the connection was closed"
		case i == 999:
			r.Took, r.Waited, r.Failure = 0, 7*time.Second, sample.NoAnswer
		}
		s.Asked.Requests = append(s.Asked.Requests, r)
	}
	l := latencyOf(newCase(s.Evidence))
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
	if sum != 999 || l.Histogram[0].From != 1e6 || len(l.Course) != courseSteps {
		t.Errorf("%d in the histogram, which begins at %d; %d steps", sum, l.Histogram[0].From, len(l.Course))
	}
	s.Asked.Requests = s.Asked.Requests[:99]
	if l := latencyOf(newCase(s.Evidence)); l.P99 != nil || !strings.Contains(l.Sentence, "Too few") {
		t.Errorf("99 requests: p99 %v, %s", l.P99, l.Sentence)
	}
}

func TestAProbeThatOnlyFailedSaysSo(t *testing.T) {
	s := newScene()
	s.Asked.Probe = "PING redis://127.0.0.1:6379"
	s.Asked.Requests = []sample.Request{{Due: began, Failure: "nobody listens there"}}
	if l := latencyOf(newCase(s.Evidence)); l.Requests != 0 || !strings.Contains(l.Line(), "none answered") || !strings.Contains(l.Sentence, "nobody listens there") {
		t.Errorf("%s. %s", l.Line(), l.Sentence)
	}
}

func TestRequestsThatTheProgramsEndBrokeAreLeftOut(t *testing.T) {
	at := func(s float64) time.Time { return began.Add(durationOf(s)) }
	got := whileItLived([]sample.Request{
		{Due: at(5), Took: time.Second},
		{Due: at(1), Took: time.Second},
		{Due: at(9), Took: 2 * time.Second, Failure: "the connection was closed"},
		{Due: at(9.5), Took: 2 * time.Second}, // answered while it shut down
		{Due: at(11), Failure: "nobody listens there"},
	}, at(10))
	if len(got) != 3 || !got[0].Due.Equal(at(1)) {
		t.Errorf("%+v", got)
	}
}

// A program with GOMAXPROCS of 2 whose marks took half a second each, ended at 5, 10
// and 15 s: two samples of each were within, at a tenth of a second apart.
func TestMarksAreFoundByPhaseAndByBookedTime(t *testing.T) {
	var b booked
	ends := []float64{5, 10, 15}
	for i := range 200 {
		now := float64(i) / 10
		phase, done := 0.0, 0.0
		for _, end := range ends {
			if now >= end-0.25 && now < end {
				phase = 1 // the samples before were missed
			}
			if now >= end {
				done++
			}
		}
		b.at, b.phase, b.cycles = append(b.at, now), append(b.phase, phase), append(b.cycles, done)
		b.dedicated, b.all = append(b.dedicated, done*0.25*2*0.5*1e9), append(b.all, done*5*2*1e9)
	}
	e := newScene().Evidence
	e.Cycles = nil
	for i, end := range ends {
		e.Cycles = append(e.Cycles, sample.GCCycle{At: e.Start.Add(durationOf(end)), N: uint32(i + 1)})
	}
	got := united(marks(e, b))
	if len(got) != 3 {
		t.Fatalf("%v", got)
	}
	for i, m := range got {
		if math.Abs(m.To-ends[i]) > 1e-6 || m.From < ends[i]-0.5-1e-6 || m.From > ends[i]-0.2 {
			t.Errorf("mark %d: %v", i, m)
		}
	}
}

// An hour of 20 requests a second, and a collection every other second.
func BenchmarkLatencyOfAnHour(b *testing.B) {
	s := newScene()
	for i := range 72_000 {
		r := sample.Request{Due: began.Add(time.Duration(i) * 50 * time.Millisecond), Took: time.Millisecond}
		if i%90 == 0 {
			r.Took = 200 * time.Millisecond
		}
		s.Asked.Requests = append(s.Asked.Requests, r)
	}
	for at := 0.0; at < 3600; at += 2 {
		s.Asked.Marks = append(s.Asked.Marks, Stretch{at, at + 0.1})
	}
	c := newCase(s.Evidence)
	b.ReportAllocs()
	for b.Loop() {
		if l := latencyOf(c); l.Slow.Requests == 0 {
			b.Fatal("nothing was slow")
		}
	}
}
