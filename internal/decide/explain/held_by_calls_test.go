package explain

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// One call that has more than half of what is live at a kill, at a line whose memory came and went all along and was never as
// much, did not fit: what another line kept meanwhile is little. A line that keeps what it allocates makes no burst.
func TestOneCallThatHasMoreThanEverDidNotFit(t *testing.T) {
	for _, c := range []struct {
		name  string
		freed float64 // of the MiB that the line had allocated before
		calls int
		burst bool
	}{{"a call in flight", 60, 1, true}, {"nobody inside", 60, 0, false}, {"nothing was ever freed", 0, 1, false}} {
		s := newScene()
		s.killed()
		s.heap(62, 64, 70)
		s.p.Live = &sample.Liveness{Bytes: 62 * mib}
		s.site("example.org/shop/preview.render", "/build/shop/preview/preview.go", 57, 46, 0)
		s.site("example.org/shop/gallery.add", "/build/shop/gallery/gallery.go", 61, 14, 0)
		decode, keep := &s.Sites[len(s.Sites)-2], &s.Sites[len(s.Sites)-1]
		if decode.Line != 57 {
			decode, keep = keep, decode
		}
		for i := range 10 {
			part := float64(i) / 9
			stand := SiteSnapshot{At: part * 5, Cycle: uint32(i), Goroutines: true, Calls: []int{0}}
			stand.Bytes, stand.Allocated, stand.Freed = bytesOf(1), bytesOf(1+c.freed*part), bytesOf(c.freed*part)
			decode.Course = append(decode.Course, stand)
			stand.Bytes, stand.Allocated, stand.Freed = bytesOf(13*part), bytesOf(13*part), 0
			keep.Course = append(keep.Course, stand)
		}
		decode.Cycle, decode.Allocated, decode.Freed = 11, bytesOf(47+c.freed), bytesOf(1+c.freed)
		if c.freed == 0 {
			decode.Freed = 0
		}
		keep.Cycle = 11
		if c.calls > 0 {
			at := sample.Frame{Func: "example.org/shop/preview.render", File: "/build/shop/preview/preview.go", Line: 57}
			s.p.Goroutines = []sample.GoroutineGroup{{Count: c.calls, Reason: "running", Where: []sample.Location{{Frames: []sample.Frame{at}}}}}
		}
		got := newCase(s.Evidence).heldByCalls()
		if (got != nil && got.Line == 57) != c.burst {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
