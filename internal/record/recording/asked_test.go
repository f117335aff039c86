package recording

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// makeRequests are n requests, 50 ms apart; every tenth has failed.
func makeRequests(n int) (list []sample.Request) {
	for i := range n {
		r := sample.Request{Due: meta.At.Add(time.Duration(i) * 50 * time.Millisecond), Took: time.Duration(i%7+1) * time.Millisecond, Status: 200}
		if i%10 == 9 {
			r.Status, r.Failure, r.Waited = 0, sample.NoAnswer, time.Second
		}
		list = append(list, r)
	}
	return list
}

// makeFigures are n readings of two figures.
func makeFigures(n int) (list []sample.Figure) {
	for i := range n {
		at := meta.At.Add(time.Duration(i) * 2 * time.Second)
		list = append(list, sample.Figure{At: at, Name: "http_requests_total", Kind: sample.CounterKind, Value: float64(40 * i)},
			sample.Figure{At: at, Name: "queue", Kind: sample.GaugeKind, Value: 0.5})
	}
	return list
}

// asked writes a recording whose watch asked the program.
func asked(t testing.TB, requests []sample.Request, figures []sample.Figure) (path string) {
	t.Helper()
	w, path := create(t, meta)
	for _, r := range requests {
		must(t, w.Request(r))
	}
	for _, f := range figures {
		must(t, w.Figure(f))
	}
	must(t, w.Close())
	return path
}

// local puts times as a Reader gives them.
func local[T any](list []T, at func(*T) *time.Time) []T {
	list = slices.Clone(list)
	for i := range list {
		*at(&list[i]) = wall(at(&list[i]).UnixNano())
	}
	return list
}

func TestWhatTheProgramWasAskedIsReadBack(t *testing.T) {
	requests, figures := makeRequests(50), makeFigures(10)
	path := asked(t, requests, figures)
	r := open(t, path)
	got, all, err := r.RequestsAbout(1000)
	must(t, err)
	equal(t, "requests", got, local(requests, func(r *sample.Request) *time.Time { return &r.Due }))
	if all != 50 {
		t.Errorf("%d requests in all", all)
	}
	values, err := r.FiguresAbout(1000)
	must(t, err)
	equal(t, "figures", values, local(figures, func(f *sample.Figure) *time.Time { return &f.At }))
	must(t, Verify(path))
	for _, tab := range askedTables {
		if got, want := columnsOf(t, r, tab.name), append([]string{"id"}, tab.columns...); !slices.Equal(got, want) {
			t.Errorf("table %s:\n  schema %v\nwritten %v", tab.name, got, want)
		}
	}
}

func TestALongProbeIsThinned(t *testing.T) {
	r := open(t, asked(t, makeRequests(5000), nil))
	got, all, err := r.RequestsAbout(500)
	must(t, err)
	if len(got) < 300 || len(got) > 600 || all != 5000 {
		t.Errorf("%d of %d", len(got), all)
	}
	if first, last := got[0].Due, got[len(got)-1].Due; last.Sub(first) != 4999*50*time.Millisecond {
		t.Errorf("from %s to %s", first, last)
	}
}

func TestARecordingWithoutAProbeHasNoRequestsAndIsNotDamaged(t *testing.T) {
	w, path := create(t, meta)
	r := open(t, path)
	if list, all, err := r.RequestsAbout(10); len(list) > 0 || all != 0 || err != nil {
		t.Errorf("%v, %d, %v", list, all, err)
	}
	if list, err := r.FiguresAbout(10); len(list) > 0 || err != nil || r.Damage() != nil {
		t.Errorf("%v, %v, %v", list, err, r.Damage())
	}
	// A reader that follows the recording sees them once they come.
	must(t, w.Request(makeRequests(1)[0]))
	must(t, w.Figure(makeFigures(1)[0]))
	must(t, w.Flush())
	if list, all, err := r.RequestsAbout(10); len(list) != 1 || all != 1 || err != nil {
		t.Errorf("then %v, %d, %v", list, all, err)
	}
	if list, err := r.FiguresAbout(10); len(list) != 1 || err != nil || r.Damage() != nil {
		t.Errorf("then %v, %v, %v", list, err, r.Damage())
	}
	must(t, w.Close())
}

// However it is cut, what is left of it is the beginning of it.
func TestACutRecordingTellsTheFirstAnswers(t *testing.T) {
	requests, figures := makeRequests(4000), makeFigures(1500)
	whole, err := os.ReadFile(asked(t, requests, figures))
	must(t, err)
	path := filepath.Join(t.TempDir(), "cut.hwm")
	some := false
	for n := 0; n < len(whole); n += 4096*3 + 100 {
		must(t, os.WriteFile(path, whole[:n], 0o600))
		r, err := Open(path)
		if err != nil {
			continue
		}
		got, _, err := r.RequestsAbout(1 << 40)
		must(t, err)
		if want := local(requests, func(r *sample.Request) *time.Time { return &r.Due }); !slices.Equal(got, want[:len(got)]) {
			t.Errorf("%d bytes: %d requests, not the first", n, len(got))
		}
		values, err := r.FiguresAbout(1 << 40)
		must(t, err)
		if want := local(figures, func(f *sample.Figure) *time.Time { return &f.At }); !slices.Equal(values, want[:len(values)]) {
			t.Errorf("%d bytes: %d figures, not the first", n, len(values))
		}
		some = some || len(got) > 0 && len(got) < len(requests)
		must(t, r.Close())
	}
	if !some {
		t.Error("no cut left a part of the requests")
	}
}

// An hour of 20 requests a second.
func BenchmarkRequestsOfAnHour(b *testing.B) {
	path := asked(b, makeRequests(72_000), nil)
	info, err := os.Stat(path)
	must(b, err)
	defer func() { b.ReportMetric(float64(info.Size()), "file-bytes") }()
	for b.Loop() {
		r, err := Open(path)
		must(b, err)
		if list, _, err := r.RequestsAbout(200_000); err != nil || len(list) != 72_000 {
			b.Fatal(len(list), err)
		}
		must(b, r.Close())
	}
}
