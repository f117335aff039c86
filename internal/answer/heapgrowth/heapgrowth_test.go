package heapgrowth

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// heapOf is a capture with so many KiB at main.cache[].body, main.buffer and
// main.table[].
func heapOf(gc uint32, cache, buffer, table int) *sample.HeapCapture {
	held := func(parent int, label string, kib int, holder bool) sample.HeapPath {
		return sample.HeapPath{Parent: parent, Label: label, Type: "[]uint8", Held: uint64(kib), Retained: sample.Bytes(kib) * sample.KiB, Holder: holder}
	}
	c := &sample.HeapCapture{GC: gc, At: time.Unix(int64(gc), 0), LiveBytes: sample.Bytes(cache+buffer+table) * sample.KiB}
	for _, p := range []sample.HeapPath{held(-1, "main.cache", cache, false), held(0, "[]", cache, false), held(-1, "main.table", table, false),
		held(1, ".body", cache, true), held(-1, "main.buffer", buffer, true), held(2, "[]", table, true)} {
		if p.Retained == 0 {
			p.Label += " (empty)"
		}
		c.Paths = append(c.Paths, p)
	}
	c.Paths[3].Sites = []sample.HeapSite{{At: sample.Frame{Func: "main.newEntry", File: "cache.go", Line: 88}, Objects: uint64(cache),
		Bytes: sample.Bytes(cache) * sample.KiB}}
	return c
}

func TestWhatGrewAtEveryStepComesBeforeWhatGrewMore(t *testing.T) {
	g := compareHeaps([]*sample.HeapCapture{heapOf(10, 1000, 0, 5000), heapOf(14, 1500, 9000, 5000), heapOf(17, 2100, 8000, 5000)})
	if len(g.Grew) != 2 || g.Captures != 3 || g.Collections != 7 {
		t.Fatalf("%+v", g)
	}
	cache, buffer := g.Grew[0], g.Grew[1]
	if cache.Path != "main.cache[].body" || !cache.Always || cache.Steps != 2 || cache.Change != 1100*sample.KiB || cache.ChangeObjects != 1100 ||
		cache.Before != 1000*sample.KiB {
		t.Errorf("first %+v", cache)
	}
	if len(cache.Allocated) != 1 || cache.Allocated[0].Function != "main.newEntry" || cache.Allocated[0].Change != 1100*sample.KiB {
		t.Errorf("allocated at %+v", cache.Allocated)
	}
	if buffer.Path != "main.buffer" || buffer.Always || buffer.Steps != 1 || buffer.Change != 8000*sample.KiB || buffer.Before != 0 {
		t.Errorf("second %+v", buffer)
	}
}

func TestAHeapThatShrankGrewNowhere(t *testing.T) {
	if g := compareHeaps([]*sample.HeapCapture{heapOf(1, 1000, 900, 800), heapOf(2, 900, 900, 700)}); g.Grew == nil || len(g.Grew) > 0 {
		t.Errorf("%+v", g.Grew)
	}
}

// A goroutine that ran as its program was killed has no frames in that capture.
func TestWhatAFrameHeldGrewUntilTheKillThatKnowsNoFrames(t *testing.T) {
	of := func(gc uint32, kib int, frames ...string) *sample.HeapCapture {
		bytes := sample.Bytes(kib) * sample.KiB
		c := &sample.HeapCapture{GC: gc, LiveBytes: bytes, Paths: []sample.HeapPath{{Parent: -1, Label: "goroutine main.serve",
			Retained: bytes + sample.Bytes(len(frames))}}}
		for i, f := range frames {
			part := bytes / sample.Bytes(1+100*(len(frames)-1-i)) // the last holds most
			at := len(c.Paths)
			c.Paths = append(c.Paths, sample.HeapPath{Parent: 0, Label: f, Retained: part},
				sample.HeapPath{Parent: at, Label: ".index[]", Type: "[]uint8", Retained: part, Holder: true})
		}
		return c
	}
	g := compareHeaps([]*sample.HeapCapture{of(1, 1000, " in main.wait", " in main.serve"), of(2, 2000, " in main.serve"), of(3, 3000, inItsStack, inItsStack)})
	if len(g.Grew) != 1 {
		t.Fatalf("%+v", g.Grew)
	}
	if row := g.Grew[0]; row.Path != "goroutine main.serve in its stack.index[]" || !row.Always || row.Before != 1000*sample.KiB || row.After != 3000*sample.KiB {
		t.Errorf("%+v", row)
	}
}
