package top

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// profiled is a recording, still written, of two processes with so many heap profiles
// each, a second apart: of the first the one line holds one object more in each.
func profiled(t testing.TB, n int) *lineReader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop-1.hwm")
	began := time.Unix(1_700_000_000, 0)
	w, err := recording.Create(path, recording.Meta{At: began})
	if err != nil {
		t.Fatal(err)
	}
	keys := []sample.ProcessKey{{PID: 1, Start: 1}, {PID: 2, Start: 1}}
	site := sample.Site{Size: 1000, Stack: []sample.Location{{Frames: []sample.Frame{{Func: "shop.Keep", File: "keep.go", Line: 7}}}}}
	for _, key := range keys {
		if err := w.Program(sample.Program{Key: key, Name: "shop"}); err != nil {
			t.Fatal(err)
		}
		if err := w.Sites(key, 0, []sample.Site{site}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		for k, key := range keys {
			n := uint64((1 + i) * (1 - k))
			counts := []sample.BucketCounts{{PubAllocs: n, NowAllocs: n}}
			if err := w.Heap(key, &sample.HeapProfile{At: began.Add(time.Duration(i) * time.Second), Rate: 1, Counts: counts}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	r := &lineReader{of: id{&Life{Seat: Seat{Path: path}}, keys[0]}}
	t.Cleanup(r.close)
	return r
}

// Growth is counted from a minute before, or from the first profile.
func TestLinesGrowOverTheLastMinute(t *testing.T) {
	for n, since := range map[int]int{1: 0, 31: 30, 200: 60} {
		lines, err := profiled(t, n).read()
		if err != nil {
			t.Fatal(err)
		}
		if lines.Since != time.Duration(since)*time.Second || lines.Total != int64(1000*n) || len(lines.List) != 1 {
			t.Fatalf("%d profiles: %+v", n, lines)
		}
		if want := int64(1000 * since); since > 0 && lines.List[0].Growth != want {
			t.Errorf("%d profiles: grew by %d, want %d", n, lines.List[0].Growth, want)
		}
	}
	if lines, err := profiled(t, 0).read(); err != nil || len(lines.List) > 0 {
		t.Errorf("without a profile: %+v, %v", lines, err)
	}
}

// BenchmarkLinesOfALongRecording is what the live view reads of five hours and a half.
func BenchmarkLinesOfALongRecording(b *testing.B) {
	r := profiled(b, 20_000)
	for b.Loop() {
		r.last = 0
		if _, err := r.read(); err != nil {
			b.Fatal(err)
		}
	}
}
