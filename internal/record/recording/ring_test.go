package recording

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// kept is what a ring was given, and what a recording that begins later has of it.
type kept struct {
	ring   *Ring
	key    sample.ProcessKey
	start  time.Time
	points []sample.Point
	sites  []sample.Site
}

func newKept(t *testing.T) *kept {
	k := &kept{key: sample.ProcessKey{PID: 1, Start: 1}, start: time.Unix(1_700_000_000, 0)}
	for i := range 3 {
		k.sites = append(k.sites, sample.Site{Size: 64, Stack: []sample.Location{{Address: uint64(i),
			Frames: []sample.Frame{{Func: fmt.Sprint("main.f", i), File: "main.go", Line: i + 1}}}}})
	}
	k.ring = NewRing(func(sample.ProcessKey) []sample.Site { return k.sites })
	must(t, k.ring.Program(sample.Program{Key: k.key, Name: "p"}))
	must(t, k.ring.Sites(k.key, 0, k.sites))
	return k
}

func (k *kept) point(t *testing.T, after time.Duration, use sample.Bytes, resting bool) {
	t.Helper()
	p := sample.Point{At: k.start.Add(after), Resting: resting, Cgroup: &sample.Cgroup{Usage: use},
		Processes: []sample.Process{{Key: k.key, Resident: &sample.Resident{Total: use}, Go: &sample.Runtime{GOGC: 100, HeapLive: use / 2}}}}
	k.points = append(k.points, p)
	must(t, k.ring.Point(&p))
}

func (k *kept) heap(t *testing.T, after time.Duration, n uint64) {
	t.Helper()
	must(t, k.ring.Heap(k.key, &sample.HeapProfile{At: k.start.Add(after), Rate: 512 << 10, Cycle: uint32(n),
		Counts: []sample.BucketCounts{{PubAllocs: n, NowAllocs: n}, {}, {PubAllocs: 2 * n, PubFrees: n, NowAllocs: 2 * n, NowFrees: n}}}))
}

// read begins a recording with what was kept, writes on, and reads all.
func (k *kept) read(t *testing.T) *Reader {
	t.Helper()
	w, path := create(t, Meta{At: k.start})
	must(t, k.ring.WriteTo(w))
	must(t, w.Close())
	return open(t, path)
}

// A recording that begins when there is news says of the rest before what one from the beginning says.
func TestARecordingThatBeginsLateHasTheRestBefore(t *testing.T) {
	k := newKept(t)
	for i := range 20 {
		k.point(t, time.Duration(i)*time.Second/10, 50*sample.MiB, false)
	}
	for i := range 600 {
		k.point(t, time.Duration(2+i)*time.Second, 50*sample.MiB, true)
	}
	k.point(t, 602*time.Second, 51*sample.MiB, true)
	k.heap(t, time.Second, 1)
	k.heap(t, 300*time.Second, 5)
	must(t, k.ring.Moment(&sample.Moment{At: k.start.Add(4 * time.Second), Kind: sample.MomentCalm, Processes: []sample.ProcessMoment{{Key: k.key,
		Profile: &sample.HeapProfile{At: k.start.Add(4 * time.Second), Rate: 1, Counts: []sample.BucketCounts{{NowAllocs: 7}}}}}}))
	must(t, k.ring.Event(sample.Event{At: k.start.Add(5 * time.Second), Kind: sample.EventNote, Text: "it happened"}))
	if k.ring.Moves() || len(k.ring.points) > 24 {
		t.Errorf("it moves: %v; %d points of a rest are kept", k.ring.Moves(), len(k.ring.points))
	}
	r := k.read(t)
	s, err := r.Samples(ColUsage)
	must(t, err)
	p, err := r.ProcessSamples(k.key, ColHeapLive)
	must(t, err)
	if s.Len() != len(k.points) || p.Len() != len(k.points) {
		t.Fatalf("%d samples, %d of the process; %d were given", s.Len(), p.Len(), len(k.points))
	}
	for i, g := range k.points {
		if off := time.Duration(s.At[i] - g.At.UnixNano()); off.Abs() > time.Millisecond || s.Column(ColUsage)[i] != float64(g.Cgroup.Usage) {
			t.Errorf("point %d is %v off and has %v", i, off, s.Column(ColUsage)[i])
		}
	}
	profiles, err := r.Profiles(k.key)
	must(t, err)
	if len(profiles) != 3 {
		t.Fatalf("%d profiles", len(profiles))
	}
	last, err := r.ProfileAt(k.key, k.start.Add(400*time.Second))
	must(t, err)
	if last.Counts[2] != (sample.BucketCounts{PubAllocs: 10, PubFrees: 5, NowAllocs: 10, NowFrees: 5}) {
		t.Errorf("%+v", last.Counts)
	}
}

// A program that moves is worth a recording soon; one that rests for a day, with a little news each few seconds, never,
// and takes as much memory as after an hour.
func TestARingKeepsToItsSizeUntilAProgramMoves(t *testing.T) {
	k := newKept(t)
	for i := range ringRows + 1 {
		k.point(t, time.Duration(i)*time.Second/10, sample.Bytes(50+i)*sample.MiB, false)
	}
	if !k.ring.Moves() {
		t.Error("a program that moves for six seconds rests")
	}
	k = newKept(t)
	for i := range 24 * 3600 {
		k.point(t, time.Duration(i)*time.Second, 50*sample.MiB+sample.Bytes(i/7%2)*300*sample.KiB, true)
		if i%300 == 0 {
			k.heap(t, time.Duration(i)*time.Second, uint64(i))
		}
	}
	if k.ring.Moves() || len(k.ring.points) > ringRows || len(k.ring.profiles[k.key]) != ringProfiles {
		t.Fatalf("it moves: %v; %d points, %d profiles", k.ring.Moves(), len(k.ring.points), len(k.ring.profiles[k.key]))
	}
	r := k.read(t)
	s, err := r.Samples(ColUsage)
	must(t, err)
	first, last := time.Unix(0, s.At[0]), time.Unix(0, s.At[s.Len()-1])
	if !first.Equal(k.start) || last.Sub(first) < 24*time.Hour-10*time.Second {
		t.Errorf("from %v to %v", first, last)
	}
	for i := 1; i < s.Len(); i++ {
		if hole := time.Duration(s.At[i] - s.At[i-1]); hole > 4*time.Second {
			t.Fatalf("a hole of %v at %v", hole, time.Unix(0, s.At[i]))
		}
	}
}

// A point belongs to its caller, and is another at the next tick.
func TestARingCopiesItsPoints(t *testing.T) {
	k := newKept(t)
	k.point(t, 0, 50*sample.MiB, false)
	k.points[0].Cgroup.Usage, k.points[0].Processes[0].Resident.Total = 1, 1
	if got := k.ring.points[0].point(); got.Cgroup.Usage != 50*sample.MiB || got.Processes[0].Resident.Total != 50*sample.MiB ||
		!reflect.DeepEqual(got.At, k.start) {
		t.Errorf("%+v", got)
	}
}

// What made the resident memory of a program at rest grow is in the recording that begins later, and a Ring of it has a bound.
func TestARingKeepsWhatMadeResidentMemoryGrow(t *testing.T) {
	k := newKept(t)
	k.point(t, 0, 50*sample.MiB, true)
	grown := func(n, stacks int) {
		for i := range n {
			at := k.start.Add(time.Duration(i) * time.Second)
			must(t, k.ring.Growth([]sample.ResidentGrowth{{From: k.start, At: at, Process: k.key, Kind: sample.ResidentNative,
				Where: k.sites[i%stacks].Stack, Samples: 1, Bytes: 4096}}))
		}
	}
	grown(5000, len(k.sites))
	if k.ring.Moves() || len(k.ring.growth) > ringGrowth {
		t.Errorf("it moves: %v; %d are kept of three stacks", k.ring.Moves(), len(k.ring.growth))
	}
	must(t, k.ring.Native(sample.NativeReading{At: k.start, Process: k.key, Allocs: 7},
		[]sample.NativeLive{{At: k.start, Process: k.key, Where: k.sites[0].Stack, Objects: 3, Bytes: 300}}))
	r := k.read(t)
	list, err := r.Growth(k.start.Add(2 * time.Hour))
	must(t, err)
	var bytes sample.Bytes
	for _, g := range list {
		bytes += g.Bytes
	}
	if len(list) != 3 || bytes != 5000*4096 {
		t.Errorf("%d stacks have %d bytes", len(list), bytes)
	}
	native, err := r.NativeReadings(k.start.Add(2 * time.Hour))
	must(t, err)
	if len(native) != 1 || native[0].Allocs != 7 {
		t.Errorf("native memory: %+v", native)
	}
}
