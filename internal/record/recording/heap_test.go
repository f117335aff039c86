package recording

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var heapTables = []table{tableHeapCapture, tableHeapName, tableHeapPath, tableHeapSite, tableHeapType}

// makeHeap is a capture with n elements of a cache.
func makeHeap(n int) *sample.HeapCapture {
	c := &sample.HeapCapture{
		At: meta.At.Add(time.Duration(n) * time.Second), Process: server, Reason: sample.HeapEvery, Stopped: 12 * time.Millisecond, Took: 80 * time.Millisecond,
		GC: uint32(n), Objects: 5000, LiveObjects: 4000, Bytes: 1 << 20, LiveBytes: 900 << 10, Untyped: 4 << 10, Ages: true,
		Paths: []sample.HeapPath{
			{Parent: -1, Label: "main.cache", Type: "?", Held: uint64(2 * n), Retained: sample.Bytes(600 * n),
				Root: &sample.HeapRoot{Kind: sample.RootGlobal, Func: "main.cache"}},
			{Parent: 0, Label: ".entries[]", Type: "main.entry", Objects: uint64(n), Bytes: sample.Bytes(88 * n), Held: uint64(2 * n), Retained: sample.Bytes(600 * n)},
			{Parent: -1, Label: "goroutine main.wait", Type: "?", Held: 5, Retained: 5 << 10, Young: 1 << 10, Holder: true,
				Root: &sample.HeapRoot{Kind: sample.RootGoroutine, Func: "main.wait", Creator: "main.main", Count: n, Oldest: sample.Some(time.Minute), First: 7, Last: 90,
					NewID: 91},
				Owner: &sample.HeapOwner{Name: "the stack of main.wait", Kind: "goroutine"}},
			{Parent: 1, Label: ".body", Type: "[]uint8", Objects: uint64(n), Bytes: sample.Bytes(512 * n), Held: uint64(n), Retained: sample.Bytes(512 * n),
				Holder: true,
				Sites:  []sample.HeapSite{{At: sample.Frame{Func: "main.newEntry", File: "cache.go", Line: 80 + n}, Objects: uint64(n), Bytes: sample.Bytes(500 * n)}}},
		},
		Lines: []sample.HeapSite{{At: sample.Frame{Func: "main.newEntry", File: "cache.go", Line: 80 + n}, Objects: uint64(n), Bytes: sample.Bytes(500 * n)},
			{At: sample.Frame{Func: "main.wait", File: "wait.go", Line: 3}, Objects: 5, Bytes: 4 << 10}},
		Types: []sample.HeapType{{Type: "[]uint8", Objects: uint64(n), Bytes: sample.Bytes(512 * n)},
			{Type: "main.entry", Objects: uint64(n), Bytes: sample.Bytes(88 * n), Inferred: 88}},
		Collections: []sample.HeapCollection{{Path: "main.cache.entries", Kind: "map", Type: "map[string]*main.entry", Count: 1, Entries: uint64(n), Room: 8192,
			Bytes: 9000, Reached: 9000}},
		Chains: []sample.HeapChain{{Path: "main.head", Type: "main.node", Length: 12000}},
		Callbacks: []sample.HeapCallback{{Func: "example.com/bus.(*Conn).wait", Creator: "example.com/bus.(*Conn).Subscribe", Count: 40,
			Closure: sample.Frame{Func: "main.join.func1", File: "hub.go", Line: 43}}},
		Gaps: []sample.Gap{{What: "names of variables", Why: "the program has no symbol table"}},
	}
	return c
}

// heaps writes a recording with captures.
func heaps(t testing.TB, n int) (path string, list []*sample.HeapCapture) {
	t.Helper()
	w, path := create(t, meta)
	for i := range n {
		c := makeHeap(i + 1)
		must(t, w.HeapCapture(c))
		c.At = wall(c.At.UnixNano())
		list = append(list, c)
	}
	must(t, w.Close())
	return path, list
}

func TestHeapCapturesAreReadBack(t *testing.T) {
	path, want := heaps(t, 3)
	r := open(t, path)
	list, err := r.Heaps()
	must(t, err)
	if len(list) != 3 || list[2].Process != server || list[2].Reason != sample.HeapEvery || list[2].LiveBytes != want[2].LiveBytes {
		t.Errorf("heaps %+v", list)
	}
	for i, h := range list {
		got, err := r.Heap(h.ID)
		must(t, err)
		equal(t, fmt.Sprint("capture ", i), got, want[i])
	}
	if p := want[1].Path(3); p != "main.cache.entries[].body" {
		t.Errorf("path %q", p)
	}
	must(t, Verify(path))
	for _, tab := range heapTables {
		if got, want := columnsOf(t, r, tab.name), append([]string{"id"}, tab.columns...); !slices.Equal(got, want) {
			t.Errorf("table %s:\n  schema %v\nwritten %v", tab.name, got, want)
		}
	}
}

// What 1.3 to 1.5 and 1.10 added is absent from a capture of 1.2, and everything else is read.
func TestAHeapCaptureOfAnOlderMinorVersionIsRead(t *testing.T) {
	path, want := heaps(t, 1)
	change(t, path,
		"ALTER TABLE heap_path DROP COLUMN young; ALTER TABLE heap_path DROP COLUMN root; ALTER TABLE heap_path DROP COLUMN owner; ALTER TABLE heap_type DROP COLUMN inferred; ALTER TABLE heap_capture DROP COLUMN lines; ALTER TABLE heap_capture DROP COLUMN callbacks; PRAGMA user_version = 1002")
	want[0].Ages, want[0].Types[1].Inferred, want[0].Lines, want[0].Callbacks = false, 0, nil, nil
	for i := range want[0].Paths {
		want[0].Paths[i].Young, want[0].Paths[i].Root, want[0].Paths[i].Owner = 0, nil, nil
	}
	got, err := open(t, path).Heap(1)
	must(t, err)
	equal(t, "capture", got, want[0])
}

func TestARecordingWithoutAHeapHasNoneAndIsNotDamaged(t *testing.T) {
	w, path := create(t, meta)
	r := open(t, path)
	if list, err := r.Heaps(); len(list) > 0 || err != nil || r.Damage() != nil {
		t.Errorf("%v, %v, %v", list, err, r.Damage())
	}
	// A reader that follows the recording sees them once they come.
	must(t, w.HeapCapture(makeHeap(7)))
	must(t, w.Flush())
	if list, err := r.Heaps(); len(list) != 1 || err != nil || r.Damage() != nil {
		t.Errorf("then %v, %v, %v", list, err, r.Damage())
	}
	must(t, w.Close())
}

// However it is cut, what is left of a capture is its beginning, and it says so.
func TestACutHeapCaptureTellsItsFirstHolders(t *testing.T) {
	const n = 400
	path, want := heaps(t, n)
	whole, err := os.ReadFile(path)
	must(t, err)
	cut := filepath.Join(t.TempDir(), "cut.hwm")
	part := 0
	for size := 0; size < len(whole); size += 4096*2 + 100 {
		must(t, os.WriteFile(cut, whole[:size], 0o600))
		r, err := Open(cut)
		if err != nil {
			continue
		}
		list, err := r.Heaps()
		must(t, err)
		for _, h := range list {
			got, err := r.Heap(h.ID)
			must(t, err)
			full := want[h.ID-1]
			if len(got.Paths) > len(full.Paths) || got.LiveBytes != full.LiveBytes {
				t.Fatalf("%d bytes: capture %d has %d paths", size, h.ID, len(got.Paths))
			}
			for i := range got.Paths {
				if got.Paths[i].Label != full.Paths[i].Label || got.Paths[i].Retained != full.Paths[i].Retained {
					t.Fatalf("%d bytes: capture %d, path %d: %+v", size, h.ID, i, got.Paths[i])
				}
			}
			if missing := len(got.Paths) < len(full.Paths); missing != strings.Contains(fmt.Sprint(got.Gaps), "is cut") {
				t.Fatalf("%d bytes: capture %d has %d paths and the gaps %v", size, h.ID, len(got.Paths), got.Gaps)
			} else if missing {
				part++
			}
		}
		must(t, r.Close())
	}
	if part == 0 {
		t.Error("no cut left a part of a capture")
	}
}

// What one capture of 1000 paths takes in the file, and how long it is read.
func BenchmarkAHeapCapture(b *testing.B) {
	c := makeHeap(1000)
	for i := len(c.Paths); i < 1000; i++ {
		c.Paths = append(c.Paths, sample.HeapPath{Parent: i % 4, Label: fmt.Sprintf(".field%d", i%97), Type: fmt.Sprintf("main.type%d", i%50), Objects: 7,
			Bytes: 4000, Held: 9, Retained: sample.Bytes(90_000 - i)})
	}
	const captures = 50
	w, path := create(b, meta)
	for range captures {
		must(b, w.HeapCapture(c))
	}
	must(b, w.Close())
	info, err := os.Stat(path)
	must(b, err)
	defer func() { b.ReportMetric(float64(info.Size())/captures, "file-bytes/op") }()
	r := open(b, path)
	for b.Loop() {
		if got, err := r.Heap(captures); err != nil || len(got.Paths) != 1000 {
			b.Fatal(err)
		}
	}
}

func FuzzAHeapCaptureOfAnyBytesIsReadOrRefused(f *testing.F) {
	path, _ := heaps(f, 2)
	whole, err := os.ReadFile(path)
	must(f, err)
	f.Add(4096*20, byte(1), len(whole))
	f.Add(len(whole)-100, byte(0xff), len(whole))
	f.Add(5000, byte(3), len(whole)/2)
	f.Fuzz(func(t *testing.T, at int, flip byte, n int) {
		if n < 0 || n > len(whole) || at < 0 || at >= len(whole) {
			return
		}
		c := slices.Clone(whole)
		c[at] ^= flip
		path := filepath.Join(t.TempDir(), "a.hwm")
		must(t, os.WriteFile(path, c[:n], 0o600))
		r, err := Open(path)
		if err != nil {
			return
		}
		defer r.Close()
		list, _ := r.Heaps()
		for _, h := range list {
			if got, err := r.Heap(h.ID); err == nil {
				for i := range got.Paths {
					if got.Paths[i].Parent >= i {
						t.Errorf("path %d is a part of %d", i, got.Paths[i].Parent)
					}
					_ = got.Path(i)
				}
			}
		}
	})
}
