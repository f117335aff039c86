package pull

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

const exposition = `# HELP http_requests_total Requests served.
# TYPE http_requests_total counter
http_requests_total{code="200",path="/"} 40
http_requests_total{code="500",path="/\"x\"\n"} 2
# TYPE request_seconds histogram
request_seconds_bucket{le="0.1"} 30
request_seconds_bucket{le="+Inf"} 41
request_seconds_sum 3.25
request_seconds_count 41
# TYPE queue gauge
queue 7 1700000000000
# TYPE wait summary
wait{quantile="0.5"} 0.2
wait_sum 8
wait_count 9
jobs_done_total 12
temperature 21.5
broken_gauge NaN
# TYPE go_memstats_alloc_bytes_total counter
go_memstats_alloc_bytes_total 1e9
process_cpu_seconds_total 3
`

func TestAFigureIsTheSumOfItsLabels(t *testing.T) {
	at := time.Unix(1, 0)
	got, err := readMetrics([]byte(exposition), at)
	if err != nil {
		t.Fatal(err)
	}
	want := []sample.Figure{
		{At: at, Name: "http_requests_total", Kind: sample.CounterKind, Value: 42},
		{At: at, Name: "jobs_done_total", Kind: sample.CounterKind, Value: 12},
		{At: at, Name: "queue", Kind: sample.GaugeKind, Value: 7},
		{At: at, Name: "request_seconds_count", Kind: sample.CounterKind, Value: 41},
		{At: at, Name: "temperature", Kind: sample.GaugeKind, Value: 21.5},
		{At: at, Name: "wait_count", Kind: sample.CounterKind, Value: 9},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v, want\n%v", got, want)
	}
}

func TestWhateverAnAddressAnswersIsMetricsOrAReason(t *testing.T) {
	hang := make(chan struct{})
	mux := http.NewServeMux()
	answer := func(path, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
	}
	answer("/metrics", exposition)
	answer("/page", "<!doctype html><body>Sign in</body>")
	answer("/json", `{"requests": 3}`)
	answer("/cut", exposition+`http_requests_total{code="2`)
	answer("/own", "go_goroutines 3\nprocess_open_fds 4\n")
	answer("/empty", "")
	answer("/huge", strings.Repeat("# "+strings.Repeat("x", 1022)+"\n", maxMetrics>>10))
	mux.HandleFunc("/hangs", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	server, secure := httptest.NewServer(mux), httptest.NewTLSServer(mux)
	defer server.Close()
	defer secure.Close()
	defer close(hang)
	gone := httptest.NewServer(mux)
	gone.Close()
	for _, c := range []struct {
		address, says string
		timeout       time.Duration
	}{
		{strings.TrimPrefix(server.URL, "http://"), "", time.Minute},
		{server.URL + "/page", "a page in HTML", time.Minute},
		{server.URL + "/json", "not Prometheus' text format: error in line 1", time.Minute},
		{server.URL + "/cut", "not Prometheus' text format", time.Minute},
		{server.URL + "/own", "the Go runtime's own", time.Minute},
		{server.URL + "/empty", "the Go runtime's own", time.Minute},
		{server.URL + "/huge", "longer than 4 MiB", time.Minute},
		{server.URL + "/none", "404", time.Minute},
		{server.URL + "/hangs", "no answer in time", 50 * time.Millisecond},
		{secure.URL, "failed to verify certificate", time.Minute},
		{strings.Replace(server.URL, "http:", "https:", 1), "gave HTTP response to HTTPS client", time.Minute},
		{gone.URL, "nobody listens there", time.Minute},
	} {
		m, err := NewMetricsEndpoint(c.address, c.timeout)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Fetch(context.Background())
		if c.says == "" && (err != nil || len(got) != 6) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %d figures, %v; want %q", c.address, len(got), err, c.says)
		}
	}
}

// counts is one answer: names and values in turns.
func counts(second int64, pairs ...any) (list []sample.Figure) {
	for i := 0; i < len(pairs); i += 2 {
		kind := sample.CounterKind
		name := pairs[i].(string)
		if strings.HasPrefix(name, "gauge") {
			kind = sample.GaugeKind
		}
		list = append(list, sample.Figure{At: time.Unix(second, 0), Name: name, Kind: kind, Value: float64(pairs[i+1].(int))})
	}
	return list
}

func TestWhatStoodStillIsKeptFromItsFirstReadingOnOnceItMoves(t *testing.T) {
	c := Chooser{Most: 8}
	for second := range int64(3) {
		if keep, _ := c.Choose(counts(second, "requests", 5)); len(keep) > 0 {
			t.Errorf("second %d: %v is kept", second, keep)
		}
	}
	keep, names := c.Choose(counts(3, "requests", 9))
	if want := append(append(counts(0, "requests", 5), counts(2, "requests", 5)...), counts(3, "requests", 9)...); fmt.Sprint(keep) != fmt.Sprint(want) ||
		len(names) != 1 {
		t.Errorf("kept %v as %v, want %v", keep, names, want)
	}
	if keep, names = c.Choose(counts(4, "requests", 9)); len(keep) != 1 || len(names) != 0 {
		t.Errorf("then: %v, %v", keep, names)
	}
}

func TestOfManyThatMoveTheFastestCountersAreKept(t *testing.T) {
	c := Chooser{Most: 2}
	c.Choose(counts(0, "gauge", 0, "slow", 0, "fast", 0, "faster", 0))
	_, names := c.Choose(counts(1, "gauge", 1000, "slow", 1, "fast", 10, "faster", 20))
	if fmt.Sprint(names) != "[faster fast]" || c.Left() != 2 {
		t.Errorf("chosen %v, %d left", names, c.Left())
	}
	keep, names := c.Choose(counts(2, "gauge", 2000, "slow", 2, "fast", 20, "faster", 40, "new", 1))
	if len(keep) != 2 || len(names) != 0 || c.Left() != 2 {
		t.Errorf("then: %v, %v, %d left", keep, names, c.Left())
	}
}

func TestAnEndlessListOfNamesIsNotRemembered(t *testing.T) {
	c := Chooser{Most: 2}
	for i := range 3 * maxFamilies {
		c.Choose(counts(int64(i), fmt.Sprint("user", i), 1))
	}
	if len(c.last) > maxFamilies || len(c.first) > maxFamilies {
		t.Errorf("%d names are remembered", len(c.last))
	}
}

func FuzzReadMetrics(f *testing.F) {
	for _, s := range []string{exposition, "a 3\n{\"a.b\"} 4\n", "# TYPE a counter\na_total 3 # {x=\"y\"} 1\n# EOF\n", "a{", "\x00", "a 1e400\n",
		"# TYPE a histogram\na_bucket 3\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := readMetrics(b, time.Time{})
		if (err == nil) == (len(list) == 0) || err != nil && !errors.Is(err, ErrNotMetrics) && !errors.Is(err, ErrNoMetrics) {
			t.Errorf("%d figures, %v", len(list), err)
		}
		for _, f := range list {
			if f.Name == "" || f.Value != f.Value {
				t.Errorf("figure %+v", f)
			}
		}
	})
}

func BenchmarkReadMetrics(b *testing.B) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "# TYPE m%d_total counter\n", i)
		for j := range 50 {
			fmt.Fprintf(&text, "m%d_total{path=\"/some/path/%d\",code=\"200\"} %d\n", i, j, i*j)
		}
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readMetrics([]byte(text.String()), time.Time{}); err != nil {
			b.Fatal(err)
		}
	}
}
