package explain

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// nativeLiveScenes are native memory whose allocator was probed.
var nativeLiveScenes = map[string]func() *scene{
	"cgo leak by live blocks": func() *scene {
		s := nativeScene()
		s.holds(180, 90, 1800, 33, "sqlite3_prepare_v2", "example.org/shop/db.(*Cache).Prepare", "/build/shop/db/cache.go", 61)
		s.holds(50, 50, 500, 29, "sqlite3_step", "example.org/shop/db.Query", "/build/shop/db/db.go", 44)
		return s
	},
	"cgo leak by few live blocks": func() *scene {
		s := nativeScene()
		s.holds(200, 100, 20, 33, "keep", "example.org/shop/db.(*Cache).Prepare", "/build/shop/db/cache.go", 61)
		return s
	},
	"cgo leak beside live blocks": func() *scene {
		s := nativeScene()
		s.holds(150, 150, 1500, 33, "keep", "example.org/shop/db.(*Cache).Prepare", "/build/shop/db/cache.go", 61)
		return s
	},
	"cgo leak whose probes were taken out": func() *scene {
		s := nativeScene()
		s.holds(180, 90, 1800, 33, "keep", "example.org/shop/db.(*Cache).Prepare", "/build/shop/db/cache.go", 61)
		s.NativeReadings[1].Ended = "C's allocator was called more than 250000 times a second, and each of the probes costs the program half a microsecond"
		s.NativeReadings[1].At = s.Moment.At.Add(-2 * time.Second)
		return s
	},
}

// holds adds native memory that is live, in MiB, of which so much was live half-way, and samples.
func (s *scene) holds(v, half float64, samples uint64, wrapperLine int, c, function, file string, line int) {
	s.touched(v, samples, wrapperLine, c, function, file, line)
	where := s.Resident[len(s.Resident)-1].Where
	s.Resident = s.Resident[:len(s.Resident)-1]
	l := sample.NativeLive{At: s.Moment.At, Process: subject, Where: where, Samples: samples, Objects: 64 * samples, Bytes: bytesOf(v), Error: bytesOf(v / 50),
		Allocated: bytesOf(2 * v), Oldest: s.Moment.At.Add(-5 * time.Second), Median: s.Moment.At.Add(-2 * time.Second)}
	s.NativeLive = append(s.NativeLive, l)
	l.Bytes = bytesOf(half)
	s.NativeHalf = append(s.NativeHalf, l)
	if len(s.NativeReadings) == 0 {
		for _, at := range []time.Time{s.Start.Add(time.Second), s.Moment.At} {
			s.NativeReadings = append(s.NativeReadings, sample.NativeReading{At: at, Process: subject, Since: s.Start, Interval: 64 << 10, Allocs: 1000, Frees: 10})
		}
	}
}

func TestALineOfLiveBlocksIsSureWithManySamplesThatExplainTheRow(t *testing.T) {
	for name, want := range map[string]Confidence{"cgo leak by live blocks": High, "cgo leak by few live blocks": Medium, "cgo leak beside live blocks": Medium} {
		a := answer(t, name)
		k := a.Verdict.Culprit
		if a.Verdict.Class != Native || k == nil || k.Hint || k.Line != 61 || k.Bytes == 0 {
			t.Errorf("%s: %s, %+v", name, a.Verdict.Class, k)
		}
		if a.Verdict.Confidence != want {
			t.Errorf("%s: confidence %s, want %s (%s)", name, a.Verdict.Confidence, want, a.Verdict.Reasons)
		}
	}
}

func TestLiveBlocksHaveGrowthAndAge(t *testing.T) {
	n := answer(t, "cgo leak by live blocks").NativeLive
	if len(n.Lines) != 2 || n.Lines[0].GrowthBytes != int64(90*mib) || n.Lines[1].GrowthBytes != 0 || n.Lines[0].OldestSeconds != 5 ||
		n.Lines[0].MedianSeconds != 2 {
		t.Errorf("lines %+v", n.Lines)
	}
	if n.TotalBytes != 230*mib || n.Samples != 2300 || n.Blocks != 64*2300 || n.Ended != "" {
		t.Errorf("%+v", n)
	}
}

// What was live before the probes were taken out says nothing of the end.
func TestProbesThatWereTakenOutBlameNoLine(t *testing.T) {
	a := answer(t, "cgo leak whose probes were taken out")
	if k := a.Verdict.Culprit; k != nil && k.Line == 61 {
		t.Errorf("%+v", k)
	}
	if a.NativeLive == nil || a.NativeLive.Ended == "" || a.NativeLive.EndedSeconds != 2 || len(a.NativeLive.Lines) != 1 {
		t.Errorf("%+v", a.NativeLive)
	}
}
