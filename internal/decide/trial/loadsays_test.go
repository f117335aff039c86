package trial

import (
	"maps"
	"testing"
	"time"
)

func TestLatenciesAreReadAsTheLoadSaysThem(t *testing.T) {
	ms := func(v float64) float64 { return v * float64(time.Millisecond) }
	for _, c := range []struct {
		name, output string
		want         map[string]float64
	}{
		{"wrk", `Running 10s test @ http://127.0.0.1:8080/
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
  Latency Distribution
     50%  250.00us
     75%  491.00us
     90%  700.00us
     99%    5.80ms
  1112 requests in 10.00s, 1.2MB read
`, map[string]float64{FigureLoadP50: ms(0.25), FigureLoadP99: ms(5.8)}},
		{"wrk2", `  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.33ms
 99.000%    2.00s
 99.999%    1.02m
100.000%    1.02m

  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%  500.00us
 99.000%    1.00ms
`, map[string]float64{FigureLoadP50: ms(1.33), FigureLoadP99: ms(2000)}},
		{"hey", `Response time histogram:
  0.001 [1]     |
Latency distribution:
  10%% in 0.0012 secs
  50%% in 0.0016 secs
  95%% in 0.0040 secs
  99%% in 0.0045 secs

Details (average, fastest, slowest):
`, map[string]float64{FigureLoadP50: ms(1.6), FigureLoadP95: ms(4), FigureLoadP99: ms(4.5)}},
		{"oha", "Response time distribution:\n  50.00% in 0.5260 ms\n  99.00% in 1.2000 ms\n", map[string]float64{FigureLoadP50: ms(0.526), FigureLoadP99: ms(1.2)}},
		{"k6", `     http_req_connecting............: avg=1ms med=9s
     http_req_duration..............: avg=117.43ms min=90.1ms med=112.5ms max=204ms p(90)=131.72ms p(95)=1.5s
       { expected_response:true }...: avg=1ms min=1ms med=1ms max=1ms p(90)=1ms p(95)=1ms
`, map[string]float64{FigureLoadP50: ms(112.5), FigureLoadP95: ms(1500)}},
		{"vegeta",
			"Requests      [total, rate, throughput]         500, 100.20, 100.15\nLatencies     [min, mean, 50, 90, 95, 99, max]  290µs, 1ms, 2ms, 3ms, 4ms, 1m0.5s, 2m\n",
			map[string]float64{FigureLoadP50: ms(2), FigureLoadP95: ms(4), FigureLoadP99: ms(60500)}},
		{"redis-benchmark, its last test", `====== SET ======
latency summary (msec):
          avg       min       p50       p95       p99       max
        9.301     9.096     9.295     9.431     9.519     9.479
====== GET ======
Summary:
  throughput summary: 87719.30 requests per second
  latency summary (msec):
          avg       min       p50       p95       p99       max
        0.301     0.096     0.295     0.431     0.519     1.479
`, map[string]float64{FigureLoadP50: ms(0.295), FigureLoadP95: ms(0.431), FigureLoadP99: ms(0.519)}},
		{"names above durations",
			"SET: 400 in 2s (200 a second), 0 failed\n      p50      p90      p95      p99    p99.5    p99.9      max\n    873µs   1.27ms   2.00ms   12.4ms   20.0ms   30.0ms   31.0ms\n",
			map[string]float64{FigureLoadP50: ms(0.873), FigureLoadP95: ms(2), FigureLoadP99: ms(12.4)}},
		{"numbers without a unit", "p50 p99\n1 2\n", nil},
		{"a table of something else", "Size distribution\n 50% 12ms\n", nil},
		{"rows without a title", " 50%  250.00us\n", nil},
		{"more names than values", "Latencies [50, 99] 1ms\np50 p99\n1ms\n", nil},
		{"no latency", "Latency distribution\n 50% -3ms\n 99% 99999999999999s\n", nil},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := LoadLatencies(c.output)
			near := func(a, b float64) bool { return a-b < 1 && b-a < 1 }
			if !maps.EqualFunc(got, c.want, near) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestWhatAProbeMeasuredIsNotReplacedByWhatALoadSays(t *testing.T) {
	r := Run{Values: map[string]float64{FigureP50: 5}}
	r.addLoadLatencies("Latency distribution\n 50% in 1 secs\n")
	if len(r.Values) != 1 {
		t.Errorf("%v", r.Values)
	}
}

func FuzzLoadLatencies(f *testing.F) {
	f.Add("Latency Distribution\n 50% 1ms\n")
	f.Add("latency summary (msec):\n p50 p99\n 1 2\n")
	f.Add("Latencies [50, 99] 1ms, 2ms\nhttp_req_duration.: med=1s p(99)=2s\n")
	f.Fuzz(func(t *testing.T, output string) {
		for name, v := range LoadLatencies(output) {
			if !(v >= 0 && v <= float64(longest)) {
				t.Errorf("%s is %g", name, v)
			}
		}
	})
}
