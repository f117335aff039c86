package recording

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestLiveNativeBytesAreReadBackAsOfAnInstant(t *testing.T) {
	w, path := create(t, meta)
	must(t, w.Program(programs[0]))
	c := sample.Location{Address: 0x1200, Frames: []sample.Frame{{Func: "malloc", File: "libc.so.6"}}}
	goes := sample.Location{Address: 0x4600, Frames: []sample.Frame{{Func: "main.fill", File: "/src/main.go", Line: 40}}}
	head := sample.NativeReading{At: start.Add(time.Second), Process: programs[0].Key, Since: start, Interval: 64 << 10, Allocs: 100, Frees: 20, Lost: 1}
	held := sample.NativeLive{At: head.At, Process: head.Process, Where: []sample.Location{c, goes}, Samples: 3, Objects: 300, Bytes: 3 << 16, Error: 1 << 15,
		Allocated: 9 << 16, Oldest: start.Add(time.Millisecond), Median: start.Add(time.Second / 2)}
	other := held
	other.Where, other.Bytes = []sample.Location{c}, 5
	freed := sample.NativeLive{At: start.Add(3 * time.Second), Process: held.Process, Where: held.Where, Allocated: held.Allocated}
	later := head
	later.At, later.Ended = freed.At, "too often"
	must(t, w.Native(head, []sample.NativeLive{held, other}))
	must(t, w.Native(later, []sample.NativeLive{freed}))
	must(t, w.Close())
	must(t, Verify(path))
	r := open(t, path)
	for _, c := range []struct {
		name  string
		until time.Time
		heads []sample.NativeReading
		live  []sample.NativeLive
	}{
		{"before", start, nil, nil},
		{"until then", start.Add(2 * time.Second), []sample.NativeReading{head}, []sample.NativeLive{held, other}},
		{"all", start.Add(time.Hour), []sample.NativeReading{head, later}, []sample.NativeLive{freed, other}},
	} {
		heads, err := r.NativeReadings(c.until)
		must(t, err)
		equal(t, c.name, heads, c.heads)
		live, err := r.NativeLive(c.until)
		must(t, err)
		equal(t, c.name, live, c.live)
	}
}
