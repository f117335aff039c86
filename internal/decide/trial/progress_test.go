package trial

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// course of points, one a second: what they show after so many.
type shows struct {
	usage  sample.Bytes
	user   time.Duration
	faults uint64
}

func pointOf(second int, s shows) *sample.Point {
	return &sample.Point{
		At:        time.Unix(int64(1000+second), 0),
		Cgroup:    &sample.Cgroup{Usage: s.usage, Limit: sample.Some(100 * sample.MiB)},
		Processes: []sample.Process{{Resident: &sample.Resident{User: s.user, Majflt: s.faults}}},
	}
}

// stalledAfter is the first second in which a run is called livelocked, 0 for none
// of 100.
func stalledAfter(answered func(second int) bool, at func(second int) shows) int {
	var p Progress
	for second := range 100 {
		point := pointOf(second, at(second))
		if answered(second) {
			p.Answered(point.At)
		}
		if p.Stalled(point) {
			return second
		}
	}
	return 0
}

func never(int) bool { return false }

func TestALivelockIsToldFromWork(t *testing.T) {
	full := 100 * sample.MiB
	for _, c := range []struct {
		name     string
		answered func(int) bool
		at       func(int) shows
		want     int
	}{
		{"thrashing at the limit", never, func(s int) shows { return shows{full, 0, uint64(500 * s)} }, 31},
		{"thrashing from the 20th second on", never, func(s int) shows {
			if s < 20 {
				return shows{full / 2, 0, 0}
			}
			return shows{full, 0, uint64(500 * s)}
		}, 51},
		{"at the limit by page cache, reading without faults", never, func(int) shows { return shows{full, 0, 0} }, 0},
		{"slow at the limit, and working", never, func(s int) shows { return shows{full, time.Duration(s) * 100 * time.Millisecond, uint64(500 * s)} }, 0},
		{"idle far below the limit", never, func(int) shows { return shows{full / 2, 0, 0} }, 0},
		{"answers all the time", func(int) bool { return true }, func(int) shows { return shows{full / 2, 0, 0} }, 0},
		{"answers end after 10 s", func(s int) bool { return s <= 10 }, func(int) shows { return shows{full / 2, time.Second, 0} }, 41},
		{"never answered: that is for --ready to say", never, func(int) shows { return shows{full / 2, time.Second, 0} }, 0},
	} {
		if got := stalledAfter(c.answered, c.at); got != c.want {
			t.Errorf("%s: livelocked after %d s, want %d", c.name, got, c.want)
		}
	}
}

func TestWithoutACgroupOnlyAnswersTell(t *testing.T) {
	var p Progress
	if p.Stalled(&sample.Point{At: time.Unix(5000, 0)}) {
		t.Error("livelocked at once")
	}
}
