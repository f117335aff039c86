package recording

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Of a long recording each process, and each stretch of time, is still seen.
func TestALongRecordingIsReadThinly(t *testing.T) {
	const ticks, most = 3000, 300
	path := filepath.Join(t.TempDir(), "long-1.hwm")
	keys := []sample.ProcessKey{{PID: 1, Start: 1}, {PID: 2, Start: 1}, {PID: 3, Start: 1}}
	start := time.Unix(1_700_000_000, 0)
	w, err := Create(path, Meta{At: start})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := w.Program(sample.Program{Key: key, Name: "p"}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range ticks {
		at := start.Add(time.Duration(i) * time.Second)
		p := sample.Point{At: at, Cgroup: &sample.Cgroup{Usage: sample.Bytes(i)}}
		for _, key := range keys {
			p.Processes = append(p.Processes, sample.Process{Key: key, Resident: &sample.Resident{Total: sample.Bytes(i)}})
			if err := w.Cycle(sample.GCCycle{At: at, Process: key, N: uint32(i + 1), Marked: sample.Bytes(i)}); err != nil {
				t.Fatal(err)
			}
			if err := w.Heap(key, &sample.HeapProfile{At: at, Rate: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Point(&p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := r.SamplesAbout(most, ColUsage)
	if err != nil {
		t.Fatal(err)
	}
	checkThin(t, "samples", s.At, start, ticks, most, 2*ticks/most)
	if n := s.Len(); s.Column(ColUsage)[n-1] != ticks-1 || s.Column(ColUsage)[n-2] != ticks-2 {
		t.Errorf("the end is not whole: %v", s.Column(ColUsage)[n-3:])
	}
	for _, key := range keys {
		s, err := r.ProcessSamplesAbout(most, key, ColResident)
		if err != nil {
			t.Fatal(err)
		}
		checkThin(t, "process samples", s.At, start, ticks, 2*most, 6*ticks/most)
		together, err := r.ResidentAbout(most)
		if err != nil || !slices.Equal(together[key].At, s.At) || !slices.Equal(together[key].Column(ColResident), s.Column(ColResident)) {
			t.Errorf("of all processes at once %d rows are of this one, alone %d; %v", together[key].Len(), s.Len(), err)
		}
		checkThinProfiles(t, r, key, start, ticks, most)
		list, err := r.CyclesAbout(most, key)
		if err != nil {
			t.Fatal(err)
		}
		counted := uint32(0)
		for _, g := range list {
			counted += 1 + g.Missed
		}
		if first := list[0].N; len(list) > most || counted+first-1 != list[len(list)-1].N || list[len(list)-1].N != ticks {
			t.Errorf("%d collections stand for %d up to %d", len(list), counted, list[len(list)-1].N)
		}
	}
	if all, err := r.SamplesAbout(ticks, ColUsage); err != nil || all.Len() != ticks {
		t.Errorf("%d samples of a recording that is short enough, %v", all.Len(), err)
	}
}

// checkThinProfiles fails unless profiles are left over the whole run, and all of a stretch that has few.
func checkThinProfiles(t *testing.T, r *Reader, key sample.ProcessKey, start time.Time, ticks, most int) {
	t.Helper()
	about, err := r.ProfilesAbout(int64(most), key)
	if err != nil {
		t.Fatal(err)
	}
	checkThin(t, "profiles", profileTimes(about), start, ticks, most, 24*ticks/most)
	from, to := start.Add(700*time.Second), start.Add(720*time.Second)
	few, err := r.ProfilesBetween(from, to, 1000, key)
	few = slices.DeleteFunc(few, func(p ProfileInfo) bool { return p.At.Before(from) || p.At.After(to) })
	if err != nil || len(few) != 21 {
		t.Errorf("%d profiles in 20 s, %v; want 21", len(few), err)
	}
	if of, err := r.IsOfLast(few[0].ID, key); err != nil || !of {
		t.Errorf("profile %d is of process %d: %v, %v", few[0].ID, key.PID, of, err)
	}
	if of, err := r.IsOfLast(few[0].ID+1, key); err != nil || of {
		t.Errorf("profile %d is of process %d: %v, %v", few[0].ID+1, key.PID, of, err)
	}
	if g, ok, err := r.CycleAt(key, from); err != nil || !ok || g.N != 701 {
		t.Errorf("the collection after 700 s is number %d, %v, %v", g.N, ok, err)
	}
	if _, ok, err := r.CycleAt(key, from.Add(1)); err != nil || ok {
		t.Errorf("a collection between two: %v, %v", ok, err)
	}
}

func profileTimes(list []ProfileInfo) (at []int64) {
	for _, p := range list {
		at = append(at, p.At.UnixNano())
	}
	return at
}

// checkThin fails unless there are rows from the start to the end, few, and none far from the next.
func checkThin(t *testing.T, what string, at []int64, start time.Time, ticks, most, apart int) {
	t.Helper()
	if len(at) < most/4 || len(at) > most+2 || at[0] != start.UnixNano() || at[len(at)-1] != start.Add(time.Duration(ticks-1)*time.Second).UnixNano() {
		t.Errorf("%s: %d from %d to %d", what, len(at), at[0], at[len(at)-1])
	}
	for i := 1; i < len(at); i++ {
		if step := at[i] - at[i-1]; step <= 0 || step > int64(apart)*int64(time.Second) {
			t.Errorf("%s: %d s between two", what, step/1e9)
		}
	}
}

// A time is found by its row's number, and so is what was before it.
func TestTheSampleBeforeATimeIsFound(t *testing.T) {
	w, path := create(t, Meta{At: time.Unix(1_700_000_000, 0)})
	story(t, w, 20)
	must(t, w.Close())
	r := open(t, path)
	s, err := r.Samples(ColUsage)
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range s.At {
		for _, shift := range []time.Duration{0, 1} {
			p, err := r.PointAt(time.Unix(0, at).Add(shift))
			if err != nil || p.At.UnixNano() != at {
				t.Errorf("sample %d + %d ns: %v, %v", i, shift, p, err)
			}
		}
	}
	if _, err := r.PointAt(time.Unix(0, s.At[0]-1)); err == nil {
		t.Error("there is a sample before the first")
	}
}

func TestAStretchOfTimeIsReadWithItsNeighbours(t *testing.T) {
	const ticks = 1000
	path := filepath.Join(t.TempDir(), "stretch-1.hwm")
	keys := []sample.ProcessKey{{PID: 1, Start: 1}, {PID: 2, Start: 1}}
	start := time.Unix(1_700_000_000, 0)
	at := func(i int) time.Time { return start.Add(time.Duration(i) * time.Second) }
	w, err := Create(path, Meta{At: start})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := w.Program(sample.Program{Key: key, Name: "p"}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range ticks {
		p := sample.Point{At: at(i), Cgroup: &sample.Cgroup{Usage: sample.Bytes(i)}}
		for _, key := range keys {
			p.Processes = append(p.Processes, sample.Process{Key: key, Resident: &sample.Resident{Total: sample.Bytes(i)}})
		}
		if err := w.Point(&p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range []struct {
		from, to    int
		most        int64
		first, last float64
		atLeast     int
	}{
		{100, 200, 1000, 99, 201, 103},
		{0, ticks, 5000, 0, ticks - 1, ticks},
		{100, 900, 80, 99, 890, 70},
		{ticks + 10, ticks + 20, 100, ticks - 1, ticks - 1, 1},
	} {
		whole, err := r.SamplesBetween(at(c.from), at(c.to), c.most, ColUsage)
		if err != nil {
			t.Fatal(err)
		}
		one, err := r.ProcessSamplesBetween(at(c.from), at(c.to), c.most, keys[1], ColResident)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range map[string][]float64{"usage": whole.Column(ColUsage), "resident": one.Column(ColResident)} {
			if n := len(v); n < c.atLeast || int64(n) > 2*c.most+3 || v[0] > c.first+2 || v[n-1] < c.last {
				t.Errorf("%d to %d, at most %d: %d rows of %s, want from about %v to %v", c.from, c.to, c.most, n, name, c.first, c.last)
			}
		}
	}
}
