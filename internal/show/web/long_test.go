package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/web"
	"github.com/highwater-go/highwater/internal/words/sample"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const peak = 200 * sample.MiB

// long makes a recording of one Go process, ten points a second, in which the charge
// stands once, for one point, at its peak. Between the points hole and hole + 100
// nothing was recorded.
func long(t testing.TB, ticks, hole int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "long-1.hwm")
	w, err := recording.Create(path, recording.Meta{At: start, Host: "secret-host", Command: []string{"/home/secret/server", "-v"}})
	if err != nil {
		t.Fatal(err)
	}
	key := sample.ProcessKey{PID: 7, Start: 1}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Program(sample.Program{Key: key, Name: "server", Args: []string{"/home/secret/server", "-v"}, HeapProfile: sample.HeapProfileOn,
		Go: &sample.GoProgram{Version: "go1.26.8", Module: "example.com/server", MainPackage: "example.com/server"}}))
	must(w.Event(sample.Event{At: start, Kind: sample.EventStart, Process: key, Text: "server"}))
	must(w.Event(sample.Event{At: start, Kind: sample.EventLoadStart, Text: "/home/secret/load"}))
	at := func(i int) time.Time { return start.Add(time.Duration(i) * 100 * time.Millisecond) }
	for i := range ticks {
		if hole > 0 && i > hole && i < hole+100 {
			continue
		}
		usage := 100*sample.MiB + sample.Bytes(i%100)*sample.KiB
		if i == ticks/3 {
			usage = peak
		}
		cgroup := &sample.Cgroup{Usage: usage, Limit: sample.Some(256 * sample.MiB), Stat: &sample.CgroupStat{Anon: usage - sample.MiB, Kernel: sample.MiB}}
		runtime := &sample.Runtime{GOGC: 100, MemoryLimit: sample.NoMemoryLimit, HeapLive: 40*sample.MiB + sample.Bytes(i%50)*sample.MiB/2,
			HeapInUse: 70 * sample.MiB,
			HeapGoal:  80 * sample.MiB, HeapMarked: 40 * sample.MiB, TotalAlloc: sample.Bytes(i) * sample.MiB, NumGC: uint32(i / 50), Goroutines: 12}
		p := sample.Process{Key: key, Resident: &sample.Resident{Total: usage, Shared: sample.MiB}, Go: runtime}
		must(w.Point(&sample.Point{At: at(i), Cgroup: cgroup, Processes: []sample.Process{p}}))
		if i%50 == 49 {
			must(w.Cycle(sample.GCCycle{At: at(i), Process: key, N: uint32(i/50 + 1), Marked: 40 * sample.MiB, Trigger: 75 * sample.MiB, Goal: 80 * sample.MiB,
				Alloc: runtime.TotalAlloc}))
		}
		if i%6000 == 0 || i == ticks/3 {
			must(w.Moment(&sample.Moment{At: at(i), Kind: sample.MomentCalm, Cgroup: cgroup,
				Processes: []sample.ProcessMoment{{Key: key, Resident: p.Resident, Go: runtime}}}))
		}
	}
	must(w.Close())
	return path
}

// book is a recording as the command gives it, in other words.
func book(path string) *web.Book {
	words := func(a *explain.Answer) (string, error) { return a.Verdict.Sentence, nil }
	return &web.Book{Path: path, Name: "long-1", Text: words, Markdown: words,
		Answer: func(e *explain.Evidence) (*explain.Answer, error) { return explain.Explain(e, nil) },
		Pprof:  func(io.Writer, string) error { return os.ErrNotExist }}
}

func TestNoPeakIsLostInResampling(t *testing.T) {
	t.Parallel()
	const ticks = 36_000
	b := book(long(t, ticks, 0))
	for _, steps := range []int{10, 300, 1200, 4000} {
		line, err := b.Timeline(0, ticks/10, steps)
		if err != nil {
			t.Fatal(err)
		}
		if len(line.At) > 2*steps {
			t.Errorf("%d rows for %d steps", len(line.At), steps)
		}
		most := 0.0
		for _, v := range line.Columns["usage"] {
			if v != nil {
				most = max(most, *v)
			}
		}
		if most != float64(peak) {
			t.Errorf("in %d steps the greatest charge is %.0f, want %d", steps, most, peak)
		}
		for name, column := range line.Columns {
			if len(column) != len(line.At) {
				t.Errorf("%s has %d rows of %d", name, len(column), len(line.At))
			}
		}
	}
}

// Of a thinned course the samples at the peak are not read; the kernel's mark tells.
func TestAPeakThatMadeNoMomentIsDrawn(t *testing.T) {
	t.Parallel()
	const ticks = 36_000
	path := filepath.Join(t.TempDir(), "unseen-1.hwm")
	w, err := recording.Create(path, recording.Meta{At: start})
	if err != nil {
		t.Fatal(err)
	}
	mark := 100 * sample.MiB
	for i := range ticks {
		usage := 100 * sample.MiB
		if i == ticks/3+1 { // one that is passed over
			usage, mark = peak, peak
		}
		p := sample.Point{At: start.Add(time.Duration(i) * 100 * time.Millisecond), Cgroup: &sample.Cgroup{Usage: usage, Peak: sample.Some(mark)}}
		if i == 0 {
			err = w.Moment(&sample.Moment{At: p.At, Kind: sample.MomentCalm, Cgroup: p.Cgroup})
		}
		if err := errors.Join(err, w.Point(&p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	line, err := book(path).Timeline(0, ticks/10, 1200)
	if err != nil {
		t.Fatal(err)
	}
	most, at := 0.0, 0.0
	for i, v := range line.Columns["usage"] {
		if v != nil && *v > most {
			most, at = *v, line.At[i]
		}
	}
	if !line.Thinned || most != float64(peak) || at < ticks/30-10 || at > ticks/30+10 {
		t.Errorf("the greatest charge is %.0f at %.1f s, want %d at %d s", most, at, peak, ticks/30)
	}
}

func TestAStretchIsExactWhereItIsShort(t *testing.T) {
	t.Parallel()
	b := book(long(t, 3000, 0))
	line, err := b.Timeline(100, 110, 1200)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(line.At); !line.Exact || n < 101 || n > 106 {
		t.Errorf("%d rows, exact %v", n, line.Exact)
	}
	if _, ok := line.Columns["memory_limit"]; ok {
		t.Error("a GOMEMLIMIT that is not set is drawn")
	}
}

func TestUnobservedTimeIsAHole(t *testing.T) {
	t.Parallel()
	o, err := book(long(t, 3000, 1000)).Overview()
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Holes) != 1 || o.Holes[0] != [2]float64{100, 110} {
		t.Errorf("holes %v, want 100 to 110", o.Holes)
	}
}

func TestTheLedgerOfAnyInstantAddsUp(t *testing.T) {
	t.Parallel()
	b := book(long(t, 3000, 0))
	for _, at := range []string{"", "peak", "last", "0s", "12.34s", "250s", "1e6s"} {
		i, err := b.Instant(at, "")
		if at == "1e6s" {
			if err == nil {
				t.Error("a moment in a million seconds was found")
			}
			continue
		}
		if err != nil {
			t.Fatal(at, err)
		}
		sum := i.Ledger.Unexplained
		for _, r := range i.Ledger.Rows {
			sum += r.Bytes
		}
		if sum != i.Ledger.Total || sum < int64(100*sample.MiB) {
			t.Errorf("at %q rows sum to %d, the charge is %d", at, sum, i.Ledger.Total)
		}
		if i.Apart != 0 && i.Pages {
			t.Errorf("at %q, %v s from a moment, pages are said to be known", at, i.Apart)
		}
	}
}

func TestAnInstantIsTheSameWhateverWasReadBefore(t *testing.T) {
	t.Parallel()
	path := long(t, 3000, 0)
	for _, at := range []string{"peak", "last", "100s"} {
		r, err := recording.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		e, err := explain.Load(r, path, at)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := explain.Explain(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		i, err := book(path).Instant(at, "")
		if err != nil {
			t.Fatal(err)
		}
		if i.Moment != e.Seconds(e.Moment.At) || i.Ledger.Total != int64(alone.Ledger.TotalBytes) || len(i.Gaps) != len(alone.Gaps) {
			t.Errorf("at %q the moment of %v s with %d bytes and %d gaps; alone %v s, %d bytes, %d gaps", at,
				i.Moment, i.Ledger.Total, len(i.Gaps), e.Seconds(e.Moment.At), alone.Ledger.TotalBytes, len(alone.Gaps))
		}
	}
}

func TestALongRecordingIsListedInPart(t *testing.T) {
	t.Parallel()
	o, err := book(long(t, 36_000, 0)).Overview()
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Cycles) > 500 || o.CyclesAll != 720 || o.MomentsAll != len(o.Moments) {
		t.Errorf("%d of %d collections, %d of %d moments", len(o.Cycles), o.CyclesAll, len(o.Moments), o.MomentsAll)
	}
}

func TestNoListIsNull(t *testing.T) {
	t.Parallel()
	b := book(long(t, 3000, 0))
	o, err := b.Overview()
	if err != nil {
		t.Fatal(err)
	}
	i, err := b.Instant("", "")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{"kill": true, "limit": true, "after_end": true, "capture": true, "since": true, "code": true, "to": true, "bytes": true,
		"from": true, "peak": true, "last": true, "native_live": true}
	for _, v := range []any{o, i} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var any map[string]any
		if err := json.Unmarshal(text, &any); err != nil {
			t.Fatal(err)
		}
		delete(any, "answer") // explain's own
		nulls("", any, func(path, name string) {
			if !allowed[name] {
				t.Errorf("%s is null", path)
			}
		})
	}
}

func nulls(path string, v any, found func(path, name string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			if one == nil {
				found(path+"."+name, name)
			}
			nulls(path+"."+name, one, found)
		}
	case []any:
		for n, one := range v {
			nulls(fmt.Sprint(path, "[", n, "]"), one, found)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, c := range []struct {
		name  string
		hours int
	}{{"1h", 1}, {"24h", 24}, {"7d", 168}} {
		b.Run(c.name, func(b *testing.B) {
			if c.hours > 24 && os.Getenv("HIGHWATER_BENCH_WEEK") == "" {
				b.Skip("HIGHWATER_BENCH_WEEK=1 writes 1 GB")
			}
			ticks := c.hours * 36_000
			path := long(b, ticks, 0)
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			first := 0
			for b.Loop() {
				one := book(path)
				o, err := one.Overview()
				if err != nil {
					b.Fatal(err)
				}
				line, err := one.Timeline(o.From, o.Seconds, 1200)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := one.Instant("", ""); err != nil {
					b.Fatal(err)
				}
				text, _ := json.Marshal(line)
				first = len(text)
			}
			b.ReportMetric(float64(info.Size())/1e6, "MB")
			b.ReportMetric(float64(first)/1e3, "kB/timeline")
		})
	}
}

func TestTheLedgerOverTimeSumsToTheUsage(t *testing.T) {
	t.Parallel()
	const ticks = 3000
	line, err := book(long(t, ticks, 0)).Timeline(0, ticks/10, 1200)
	if err != nil {
		t.Fatal(err)
	}
	usage := map[float64]float64{}
	for i, v := range line.Columns["usage"] {
		if v != nil {
			usage[line.At[i]] = *v
		}
	}
	top := 0.0
	for i, at := range line.Ledger.At {
		sum := 0.0
		for _, row := range line.Ledger.Rows {
			if len(row.Bytes) != len(line.Ledger.At) || row.Word == "" {
				t.Fatalf("%q has %d of %d values", row.Name, len(row.Bytes), len(line.Ledger.At))
			}
			sum += float64(row.Bytes[i])
		}
		if u, ok := usage[at]; ok && sum != u {
			t.Errorf("at %v s the rows sum to %.0f, the usage is %.0f", at, sum, u)
		}
		top = max(top, sum)
	}
	if n := len(line.Ledger.At); n < 150 || top != float64(peak) {
		t.Errorf("%d ledgers, the greatest of %.0f bytes: want more than 150 and the peak of %d", n, top, peak)
	}
	rate := 0.0
	for _, v := range line.Columns["alloc_rate"] {
		if v != nil {
			rate = max(rate, *v)
		}
	}
	if want := float64(10 * sample.MiB); rate < 0.99*want || rate > 1.01*want {
		t.Errorf("an allocation rate of %.0f bytes a second, the program allocates %.0f", rate, want)
	}
}

// A recording that is cut may have its events to the end, and samples of its beginning alone.
func TestTheTimeWithoutSamplesOfACutRecordingIsAHole(t *testing.T) {
	whole := hwtest.Unzipped(t, "../../cli/testdata/sessions.hwm.gz")
	path := filepath.Join(t.TempDir(), "cut-1.hwm")
	for part, want := range map[int]bool{60: true, 100: false} {
		if err := os.WriteFile(path, whole[:len(whole)*part/100], 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := book(path).Overview()
		if err != nil {
			t.Fatal(err)
		}
		if n := len(o.Holes); (n > 0 && o.Holes[n-1][1] == o.Seconds && o.Seconds > 15) != want {
			t.Errorf("%d%% of the file: holes %v, %v s", part, o.Holes, o.Seconds)
		}
	}
}
