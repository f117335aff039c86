package explain

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// A peak whose memory is free heap is told of by the moment at which the heap was full, unless a limit is near, or that
// was another, smaller rise.
func TestAPeakOfFreeHeapIsToldByTheRiseBefore(t *testing.T) {
	type look struct{ usage, inUse float64 }
	for name, c := range map[string]struct {
		limit float64 // less than 0: the program's cgroup is not its own
		looks []look
		want  int
	}{
		"a burst, then free heap":     {0, []look{{100, 90}, {430, 400}, {440, 200}, {450, 60}}, 1},
		"the limit is near":           {460, []look{{100, 90}, {430, 400}, {440, 200}, {450, 60}}, 3},
		"the peak is full itself":     {0, []look{{100, 90}, {430, 300}, {450, 400}, {440, 100}}, 2},
		"half of it was free already": {0, []look{{430, 260}, {430, 230}, {450, 210}}, 2},
		"the rise before was smaller": {0, []look{{200, 190}, {450, 60}}, 1},
		"in a cgroup of several":      {-1, []look{{100, 90}, {430, 400}, {440, 200}, {450, 60}}, 1},
		"the first of two":            {0, []look{{100, 90}, {420, 380}, {430, 400}, {440, 200}, {450, 60}}, 1},
	} {
		path := filepath.Join(t.TempDir(), "filled.hwm")
		w, err := recording.Create(path, recording.Meta{At: began})
		check(t, err)
		check(t, w.Program(sample.Program{Key: subject, Name: "shop", Go: &sample.GoProgram{Version: "go1.26.8"}}))
		for i, k := range c.looks {
			at := began.Add(time.Duration(i) * time.Second)
			g := &sample.Cgroup{Usage: bytesOf(k.usage), Stat: &sample.CgroupStat{}}
			if c.limit > 0 {
				g.Limit = sample.Some(bytesOf(c.limit))
			}
			if c.limit < 0 {
				g = nil
			}
			heap := &sample.Runtime{GOGC: 100, MemoryLimit: sample.NoMemoryLimit, HeapInUse: bytesOf(k.inUse)}
			resident := &sample.Resident{Total: bytesOf(k.usage)}
			check(t, w.Point(&sample.Point{At: at, Cgroup: g, Processes: []sample.Process{{Key: subject, Resident: resident, Go: heap}}}))
			check(t, w.Moment(&sample.Moment{At: at, Kind: sample.MomentMax, Cgroup: g,
				Processes: []sample.ProcessMoment{{Key: subject, Resident: resident, Go: heap}}}))
		}
		check(t, w.Close())
		r, err := recording.Open(path)
		check(t, err)
		e, err := Load(r, path, "")
		check(t, err)
		check(t, r.Close())
		if got := int(e.Moment.At.Sub(began) / time.Second); got != c.want {
			t.Errorf("%s: the moment is number %d, want %d", name, got, c.want)
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
