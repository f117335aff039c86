package explain

import (
	"math"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// worked is a run of 30 s whose live heap is so many bytes at each of 60
// collections, with figures read every 2 s. Both are functions of the time.
func worked(live func(t float64) float64, figures map[string]func(t float64) float64) *Case {
	s := newScene()
	const n = 60
	marked := make([]float64, n)
	for i := range marked {
		marked[i] = live(30*float64(i+1)/(n+1)) / float64(mib)
	}
	s.cycles(10, marked...)
	s.heap(marked[n-1], marked[n-1], marked[n-1]+10)
	s.noMark()
	s.Probed.Metrics = "http://127.0.0.1:1/metrics"
	for name, value := range figures {
		f := Series{Name: name, Kind: sample.CounterKind}
		if !strings.HasSuffix(name, "_total") {
			f.Kind = sample.GaugeKind
		}
		for t := 0.0; t <= 30; t += 2 {
			f.At, f.Value = append(f.At, t), append(f.Value, value(t))
		}
		s.Probed.Figures = append(s.Probed.Figures, f)
	}
	return newCase(s.Evidence)
}

// bursts is work that goes fast and slowly in turns of 6 s.
func bursts(t float64) float64 {
	done, fast := 0.0, true
	for from := 0.0; from < t; from += 6 {
		rate := 500.0
		if fast {
			rate = 20_000
		}
		done += rate * (math.Min(t, from+6) - from)
		fast = !fast
	}
	return done
}

func steadily(rate float64) func(float64) float64 {
	return func(t float64) float64 { return rate * t }
}

func TestGrowthIsToldByTheWorkItFollows(t *testing.T) {
	start := 10 * float64(mib)
	for _, c := range []struct {
		name    string
		live    func(t float64) float64
		figures map[string]func(t float64) float64
		figure  string
		clear   bool
		per     float64 // bytes, within a twentieth
		says    string
	}{
		{"steady work", func(t float64) float64 { return start + 83*20_000*t },
			map[string]func(float64) float64{"http_requests_total": steadily(20_000)},
			"http_requests_total", true, 83, "83 B (83 B to 83 B) for each of http_requests_total (r=1.00). The work came at a steady pace"},
		{"work in bursts, beside a clock", func(t float64) float64 { return start + 400*bursts(t) },
			map[string]func(float64) float64{"jobs_total": bursts, "ticks_total": steadily(10)},
			"jobs_total", true, 400, "rather than with time"},
		{"of figures that go together the one that sounds like work", func(t float64) float64 { return start + 400*bursts(t) },
			map[string]func(float64) float64{"received_bytes_total": func(t float64) float64 { return 30 * bursts(t) }, "requests_total": bursts,
				"cached_items": bursts},
			"requests_total", true, 400, "rather than with time"},
		{"growth with time, whatever the work", func(t float64) float64 { return start + 2*float64(mib)*t },
			map[string]func(float64) float64{"jobs_total": bursts},
			"jobs_total", false, -1, "grows with time rather than with jobs_total"},
		{"no growth", func(t float64) float64 { return start + float64(mib)*math.Mod(t*7.3, 1) },
			map[string]func(float64) float64{"jobs_total": bursts},
			"jobs_total", false, -1, "does not grow with jobs_total (at most"},
		{"memory that goes up and down by itself", func(t float64) float64 { return start + 20*float64(mib)*(1+math.Sin(t/2)) + float64(mib)*t/3 },
			map[string]func(float64) float64{"jobs_total": bursts, "queue": func(t float64) float64 { return 30 - t }},
			"", false, -1, "live heap"},
		{"a gauge", func(t float64) float64 { return start + 1024*bursts(t) },
			map[string]func(float64) float64{"cache_items": bursts},
			"cache_items", true, 1024, "1.0 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workOf(worked(c.live, c.figures))
			if w == nil {
				t.Fatal("nothing is said")
			}
			if c.figure != "" && w.Figure != c.figure || w.Clear != c.clear || !strings.Contains(w.Sentence, c.says) {
				t.Errorf("by %s, clear %v: %s", w.Figure, w.Clear, w.Sentence)
			}
			if c.per > 0 && (math.Abs(w.PerUnit-c.per) > c.per/20 || *w.Low > c.per*1.05 || *w.High < c.per*0.95) {
				t.Errorf("%v bytes (%v to %v) a unit, want %v", w.PerUnit, *w.Low, *w.High, c.per)
			}
		})
	}
}

func TestNothingIsSaidWhereNoWorkWasCounted(t *testing.T) {
	grows := func(t float64) float64 { return 1e7 + 1e6*t }
	for name, figures := range map[string]map[string]func(float64) float64{
		"none":             nil,
		"it stood still":   {"jobs_total": steadily(0)},
		"seconds of work":  {"handler_seconds_total": steadily(1)},
		"one reading only": {"jobs_total": func(t float64) float64 { return math.NaN() }},
	} {
		if w := workOf(worked(grows, figures)); w != nil {
			t.Errorf("%s: %s", name, w.Sentence)
		}
	}
}

// A program that started anew counts from 0 again: what lies between is not known.
func TestACounterThatBeginsAnewIsNoWorkUndone(t *testing.T) {
	f := Series{Kind: sample.CounterKind, At: []float64{0, 2, 4, 6}, Value: []float64{100, 200, 10, 110}}
	for at, want := range map[float64]float64{-1: math.NaN(), 0: 100, 1: 150, 3: math.NaN(), 4: 10, 5: 60, 7: math.NaN()} {
		if got := valueAt(f, at); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
}

func TestTheLoadsOwnCountIsTaken(t *testing.T) {
	for text, want := range map[string]float64{
		"Running 10s test @ http://127.0.0.1\n  2 threads and 10 connections\n  22464 requests in 30.00s, 17.76MB read\nRequests/sec: 748\n": 22464,
		"====== SET ======\n  100000 requests completed in 1.45 seconds\n  50 parallel clients\n":                                            100000,
		"Concurrency Level:      10\nComplete requests:      5000\nFailed requests:        0\n":                                              5000,
		"Requests      [total, rate, throughput]         1200, 120.00, 65.87\n":                                                              1200,
		"     http_reqs......................: 1861   60.2/s\n":                                                                              1861,
		"requests: 300 total, 300 started, 300 done, 300 succeeded, 0 failed\n":                                                              300,
		"highwater: 40 requests\nhighwater: 2 requests\n":                                                                                    42,
		"done in 3 requests or so\n": 0,
		"SET: 1500000 in 41.2s (36407 a second), 0 failed\n      p50      p90\n": 1500000,
	} {
		if got, ok := RequestsIn(text); got != want || ok != (want > 0) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	c := worked(func(t float64) float64 { return 1e7 + 4e6*t }, nil)
	c.Events = append(c.Events, sample.Event{At: began, Kind: sample.EventLoadStart},
		sample.Event{At: began.Add(30e9), Kind: sample.EventLoadEnd, Text: "highwater: 120000 requests\n"})
	w := workOf(c)
	if w == nil || !strings.Contains(w.Sentence, "for each of the 120,000 requests that the load counted") || math.Abs(w.PerUnit-1000) > 50 {
		t.Errorf("%+v", w)
	}
}

func TestAnAnswerHasTheWorkAsEvidence(t *testing.T) {
	c := worked(func(t float64) float64 { return 1e7 + 83*20_000*t }, map[string]func(float64) float64{"http_requests_total": steadily(20_000)})
	a, err := Explain(c.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Evidence {
		if strings.Contains(f.Text, "for each of http_requests_total") && f.Values["per_unit_bytes"] == 83 && f.Values["correlation_percent"] == 100 {
			return
		}
	}
	t.Errorf("evidence %+v", a.Evidence)
}

// Of 630 MiB that is live 600 is what 124 calls have; what grew after they had come is the other 30. No more of the calls
// fit, and not of what grew.
func TestWhatCallsHoldIsBlamedBeforeWhatGrewALittle(t *testing.T) {
	s := workScenes["buffers in flight that are hardly touched"]()
	s.cycles(300, 596, 600, 606, 612, 620, 626)
	s.Sites[0].Bytes, s.Sites[0].Growth, s.Sites[0].Course = 600*mib, 0, nil
	s.stand(5, 600, 124, 0)
	s.stand(20, 600, 124, 0)
	table := s.site("example.org/shop/table.Encode", "/build/shop/table/table.go", 60, 28, 0)
	table.Course = []SiteSnapshot{{At: 5, Calls: []int{124}, Goroutines: true}, {At: 20, Bytes: 16 * mib, Calls: []int{124}, Goroutines: true}}
	s.inside("example.org/shop/table.Encode", 124)
	if c := newCase(s.Evidence); c.site.Line != 71 {
		t.Errorf("%s:%d is blamed", c.site.File, c.site.Line)
	}
}
