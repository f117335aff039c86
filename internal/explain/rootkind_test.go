package explain

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/sample"
)

// rooted is a case with a capture of three roots.
func rooted() *Case {
	waiting := sample.HeapRoot{Kind: sample.RootGoroutine, Func: "main.serve", Creator: "main.main", Count: 40, Oldest: sample.Some(time.Second), First: 90, Last: 130, NewID: 130}
	h := &sample.HeapCapture{LiveBytes: 1000, Paths: []sample.HeapPath{
		{Parent: -1, Label: "goroutine main.serve", Retained: 300, Root: &waiting},
		{Parent: -1, Label: "main.cache", Retained: 500, Root: &sample.HeapRoot{Kind: sample.RootGlobal, Func: "main.cache"}},
		{Parent: 0, Label: " in main.read", Retained: 60},
		{Parent: 0, Label: " in main.decode", Retained: 240},
		{Parent: 1, Label: ".entries", Retained: 490, Holder: true, Owner: &sample.HeapOwner{Name: "(*cache).entries", Type: "map[string]*entry", Kind: "map", Entries: 12},
			Sites: []sample.HeapSite{{At: sample.Frame{Func: "main.put", Line: 7}, Bytes: 480}}},
		{Parent: -1, Label: "runtime.allp", Retained: 20, Root: &sample.HeapRoot{Kind: sample.RootTimer}},
		{Parent: -1, Label: "main.old", Retained: 9},
	}}
	return &Case{Evidence: &Evidence{Heap: h}}
}

func TestWhatRootsRetainIsSummedByTheirKind(t *testing.T) {
	global, frames, ok := rooted().retainedBy()
	if !ok || global != 500 || frames != 300 {
		t.Errorf("variables retain %d, frames %d, %v", global, frames, ok)
	}
	shares := rooted().rootShares()
	if len(shares) != 3 || shares[0].Name != "main.cache" || shares[1].Frame != "main.decode" || shares[1].Count != 40 || shares[1].Creator != "main.main" {
		t.Fatalf("shares %+v", shares)
	}
	if g := &shares[1]; g.isMain() || !g.youngerThan(89) || g.youngerThan(90) || shares[0].youngerThan(1) {
		t.Errorf("the goroutines are from %d on: main's %v", g.First, g.isMain())
	}
}

func TestWithoutACaptureItIsNotKnownWhatRootsRetain(t *testing.T) {
	old := rooted()
	for i := range old.Heap.Paths {
		old.Heap.Paths[i].Root = nil
	}
	for name, c := range map[string]*Case{"none": {Evidence: &Evidence{}}, "one of an older version": old} {
		if global, frames, ok := c.retainedBy(); ok || global != 0 || frames != 0 {
			t.Errorf("%s: %d, %d, %v", name, global, frames, ok)
		}
	}
}

func TestTheContainerOfALineIsNamedWithItsRoot(t *testing.T) {
	c := rooted()
	h, root := c.container(&Site{Function: "main.put", Line: 7})
	if h == nil || h.String() != "(*cache).entries (map[string]*entry, 12 entries)" || h.Root != "global" || root == nil || root.Func != "main.cache" {
		t.Errorf("held by %+v, at %+v", h, root)
	}
}
