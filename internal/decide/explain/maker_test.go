package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// crawler is a program whose connections are kept by goroutines of net/http: 90 MiB of buffers that the library
// allocated, and 3 MiB of transports that the program's own line made.
func crawler(oldest float64) *scene {
	s := newScene()
	s.Moment.Kind = sample.MomentDeath
	s.heap(150, 150, 160)
	s.charge()
	s.cycles(28, 40, 60, 80, 100, 120, 150)
	s.site("net/http.(*Transport).dialConn", "net/http/transport.go", 1991, 90, 0)
	s.site("example.org/shop/crawl.fetch", "/build/shop/crawl/crawl.go", 43, 6, 0)
	s.site("example.org/shop/catalogue.load", "/build/shop/catalogue/load.go", 9, 40, 0)
	s.Sites[0].Own, s.Sites[0].innermost = false, sample.Frame{Func: "bufio.NewReaderSize", File: "bufio/bufio.go", Line: 57}
	for i := range s.Sites {
		site := &s.Sites[i]
		for n := range 6 {
			held := sample.Bytes(float64(site.Bytes) * float64(n+1) / 6)
			if i == 2 {
				held = site.Bytes
			}
			site.Course = append(site.Course, SiteSnapshot{At: 5 * float64(n), Cycle: uint32(n + 2), Bytes: held, Allocated: held, Goroutines: true})
		}
	}
	root := &sample.HeapRoot{Kind: sample.RootGoroutine, Func: "net/http.(*Transport).dialConn.gowrap2", First: 6, Last: 6119, Count: 1221,
		Oldest: sample.Some(durationOf(oldest))}
	s.captured(150,
		sample.HeapPath{Parent: -1, Label: "goroutine " + root.Func + ": []uint8", Root: root, Holder: true, Retained: 90 * mib,
			Sites: []sample.HeapSite{{At: s.Sites[0].innermost, Bytes: 90 * mib}}},
		sample.HeapPath{Parent: -1, Label: "goroutine " + root.Func + ": http.persistConn.t", Root: root, Holder: true, Retained: 6 * mib,
			Sites: []sample.HeapSite{{At: sample.Frame{Func: "example.org/shop/crawl.fetch", Line: 43}, Bytes: 6 * mib}}},
		sample.HeapPath{Parent: -1, Label: "main.catalogue", Root: &sample.HeapRoot{Kind: sample.RootGlobal}, Holder: true, Retained: 40 * mib,
			Sites: []sample.HeapSite{{At: sample.Frame{Func: "example.org/shop/catalogue.load", Line: 9}, Bytes: 40 * mib}}})
	s.Heap.At = s.Moment.At
	return s
}

// What a library's goroutines retain is the fault of the program's own line that made what they keep beside it.
func TestTheMakerOfWhatALibraryKeepsIsToBlame(t *testing.T) {
	c := newCase(crawler(29).Evidence)
	if c.site == nil || c.site.Own {
		t.Fatalf("blamed is %+v", c.site)
	}
	if s := c.maker(); s == nil || s.Line != 43 {
		t.Errorf("its maker is %+v", s)
	}
	f := Finding{Sentence: "It grew."}
	c.blameMaker(&f)
	if f.Culprit == nil || f.Culprit.Line != 43 || f.Culprit.Below == nil || f.Culprit.Below.Line != 1991 || !strings.Contains(f.Sentence, "crawl/crawl.go:43") {
		t.Errorf("%+v: %s", f.Culprit, f.Sentence)
	}
	c.Heap.Paths[0].Root, c.Heap.Paths[1].Root = &sample.HeapRoot{Kind: sample.RootGlobal}, &sample.HeapRoot{Kind: sample.RootGlobal}
	if s := c.maker(); s != nil {
		t.Errorf("a variable retains it, and yet its maker is %+v", s)
	}
}

// Goroutines of which the first has waited since the start may never end: what they hold is not surely in flight.
func TestGoroutinesThatWaitSinceTheStartAreNoCallsForSure(t *testing.T) {
	for oldest, want := range map[float64]tenure{29: unknownTenure, 4: passing} {
		c := newCase(crawler(oldest).Evidence)
		if got := c.tenureOf(0); got != want {
			t.Errorf("waited for %v of 30 s: %d, want %d", oldest, got, want)
		}
	}
}
