package explain

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest/recorded"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// The earliest profile is of a wave.
func TestGrowthIsFromTheFloorBeforeTheLastRise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "waves-1.hwm")
	w, err := recording.Create(path, recording.Meta{At: began})
	put := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put(err)
	put(w.Program(sample.Program{Key: subject, Name: "waves", Go: &sample.GoProgram{Module: "example.org/waves"}, HeapProfile: sample.HeapProfileOn}))
	put(w.Sites(subject, 0, []sample.Site{{Size: mib, Stack: []sample.Location{{Address: 2,
		Frames: []sample.Frame{{Func: "example.org/waves.F", File: "/b/f.go", Line: 3}}}}}}))
	for i, held := range []sample.Bytes{100, 20, 110, 15, 40, 160} {
		at := began.Add(time.Duration(i+1) * time.Second)
		g := &sample.Runtime{HeapMarked: held * mib, HeapLive: held * mib, HeapInUse: held * mib, TotalAlloc: held * mib}
		put(w.Cycle(sample.GCCycle{At: at, Process: subject, N: uint32(i + 1), Marked: held * mib, Alloc: sample.Bytes(200*i) * mib}))
		put(w.Moment(&sample.Moment{At: at, Kind: sample.MomentMax, Processes: []sample.ProcessMoment{{Key: subject, Go: g,
			Resident: &sample.Resident{Total: held * mib},
			Profile:  &sample.HeapProfile{At: at, Rate: 1, Counts: []sample.BucketCounts{{PubAllocs: uint64(held), NowAllocs: uint64(held)}}}}}}))
	}
	put(w.Close())
	e, err := load(t, path, "last")
	if err != nil || len(e.Sites) != 1 || e.Sites[0].Growth != int64(145*mib) {
		t.Errorf("%v: %+v, want growth of 145 MiB from the floor of 15", err, e.Sites)
	}
}

// A child that grows beside a larger parent at rest is what the answer is about.
func TestTheProcessThatGrewAloneIsTheSubject(t *testing.T) {
	child := subject
	child.PID++
	for grown, want := range map[sample.Bytes]sample.ProcessKey{9: child, 0: subject} {
		path := filepath.Join(t.TempDir(), "child-1.hwm")
		w, err := recording.Create(path, recording.Meta{At: began})
		put := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		put(err)
		for _, key := range []sample.ProcessKey{subject, child} {
			put(w.Program(sample.Program{Key: key, Name: "uploads", Go: &sample.GoProgram{Module: "example.org/uploads"}}))
		}
		for i := range 13 {
			at, more := began.Add(time.Duration(i)*time.Second), sample.Bytes(i)*grown*mib/12
			parent, worker := &sample.Resident{Total: 27 * mib}, &sample.Resident{Total: 2*mib + more}
			put(w.Point(&sample.Point{At: at, Processes: []sample.Process{{Key: subject, Resident: parent}, {Key: child, Resident: worker}}}))
			if i == 12 {
				put(w.Moment(&sample.Moment{At: at, Kind: sample.MomentMax, Processes: []sample.ProcessMoment{{Key: subject, Resident: parent},
					{Key: child, Resident: worker}}}))
			}
		}
		put(w.Close())
		if e, err := load(t, path, "last"); err != nil || e.Subject != want {
			t.Errorf("the child grew by %d MiB: about %v, want %v (%v)", grown, e.Subject, want, err)
		}
	}
}

func TestThePeakIsOfTheProgramsLife(t *testing.T) {
	moment := func(kind sample.MomentKind, usage sample.Bytes, signal int) recording.MomentInfo {
		m := recording.MomentInfo{Kind: kind, Usage: sample.Some(usage * mib)}
		m.Processes = make([]recording.ProcessMomentInfo, 1)
		m.Processes[0].Signal = signal
		return m
	}
	for name, c := range map[string]struct {
		last recording.MomentInfo
		want int
	}{
		"it ended by itself, a little above":  {moment(sample.MomentDeath, 101, 0), 1},
		"it ended by itself, far above":       {moment(sample.MomentDeath, 120, 0), 2},
		"it was killed, a little above":       {moment(sample.MomentDeath, 101, 9), 2},
		"a new maximum, a little above":       {moment(sample.MomentMax, 101, 0), 2},
		"it ended by itself, a little below":  {moment(sample.MomentDeath, 99, 0), 1},
		"it ended by itself, at the very top": {moment(sample.MomentDeath, 100, 0), 1},
	} {
		list := []recording.MomentInfo{moment(sample.MomentCalm, 50, 0), moment(sample.MomentMax, 100, 0), c.last}
		if got := peakMoment(list); got != c.want {
			t.Errorf("%s: moment %d, want %d", name, got, c.want)
		}
	}
}

// A child that ends while the parent's maximum is being taken is held by itself, and is
// in the moment of its death alone.
func TestAPeakThatLacksAProcessGivesWayToTheDeathThatHasIt(t *testing.T) {
	start := time.Now()
	moment := func(kind sample.MomentKind, at time.Duration, pids ...int) recording.MomentInfo {
		m := recording.MomentInfo{Kind: kind, At: start.Add(at), Usage: sample.Some(100 * mib)}
		for _, pid := range pids {
			m.Processes = append(m.Processes, recording.ProcessMomentInfo{Key: sample.ProcessKey{PID: pid}})
		}
		return m
	}
	before, lacking := moment(sample.MomentMax, 0, 1, 2), moment(sample.MomentMax, 9*time.Second, 1)
	before.Usage.V = 50 * mib
	for name, c := range map[string]struct {
		list []recording.MomentInfo
		want int
	}{
		"it died meanwhile": {[]recording.MomentInfo{before, moment(sample.MomentDeath, 10*time.Second, 2, 1), lacking}, 1},
		"it died before":    {[]recording.MomentInfo{before, moment(sample.MomentDeath, 8*time.Second, 2, 1), lacking}, 2},
	} {
		if got := peakMoment(c.list); got != c.want {
			t.Errorf("%s: moment %d, want %d", name, got, c.want)
		}
	}
}

func load(t *testing.T, path, at string) (*Evidence, error) {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return Load(r, path, at)
}

func TestCountersAllocatorsAndSpansAreLoaded(t *testing.T) {
	e, err := load(t, recorded.Leak(t), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Allocators) != 1 || e.Allocators[0].Bytes != 220*mib || e.Allocators[0].Share != 1 || e.Allocators[0].Line != 33 || !e.Allocators[0].Own {
		t.Errorf("allocators %+v", e.Allocators)
	}
	if got, want := e.Spans[subject], (Span{Low: 140 * mib, High: 240 * mib, Seconds: 5, CPU: 3}); got != want {
		t.Errorf("span %+v, want %+v", got, want)
	}
	last := len(e.Ticks.At) - 1
	if e.Ticks.Alloc[last] != 240*float64(mib) || e.Ticks.CPU[last] != 3.3 || e.Ticks.GC[last] != 1.1 {
		t.Errorf("allocated %v, CPU %v s, collector %v s", e.Ticks.Alloc[last], e.Ticks.CPU[last], e.Ticks.GC[last])
	}
}

// What a mark did not reach and no sweep has freed is garbage, site by site.
func TestGarbageIsWhatTheMarkDidNotReach(t *testing.T) {
	p := &sample.HeapProfile{Counts: []sample.BucketCounts{{NowAllocs: 10, NowFrees: 2}, {NowAllocs: 5}, {NowAllocs: 3, NowFrees: 3}, {NowAllocs: 7}}}
	if got, want := deadOf(p, []uint64{3, 5, 1}), []int64{5, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestARecordedLeakIsExplained(t *testing.T) {
	e, err := load(t, recorded.Leak(t), "")
	if err != nil {
		t.Fatal(err)
	}
	a, err := Explain(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkAnswer(t, a)
	v := a.Verdict
	if v.Class != Leak || v.Culprit == nil || v.Culprit.Line != 33 || v.Culprit.Bytes != 220*mib {
		t.Errorf("verdict %s at %+v: %s", v.Class, v.Culprit, v.Sentence)
	}
	if a.Outcome.By != ByCgroup || a.Outcome.Moment != "kill" || *a.Outcome.PeakBytes != 256*mib || *a.Outcome.ExitCode != 137 {
		t.Errorf("outcome %+v", a.Outcome)
	}
	if a.Program.Name != "leaky" || len(a.Program.Processes) != 2 {
		t.Errorf("program %+v: a death leaves the shell out, the last sample before it does not", a.Program)
	}
	want := map[string]sample.Bytes{sample.RowLive: 220 * mib, sample.RowOther: mib, sample.RowKernel: 4 * mib}
	for _, r := range a.Ledger.Rows {
		if w, ok := want[r.Name]; ok && w != r.Bytes {
			t.Errorf("%s %d, want %d", r.Name, r.Bytes, w)
		}
	}
	if h := a.Holders[0]; h.GrowthBytes != int64(200*mib) || !h.OwnCode {
		t.Errorf("holder %+v, want 200 MiB more than in the first profile", h)
	}
}

func TestAMomentIsChosenByItsName(t *testing.T) {
	path := recorded.Leak(t)
	for at, want := range map[string]struct {
		second int
		name   string
	}{"": {11, "kill"}, "kill": {11, "kill"}, "peak": {11, "peak"}, "last": {11, "last"}, "3200ms": {3, "time"}, "2026-03-01T12:00:05Z": {5, "time"}} {
		e, err := load(t, path, at)
		if err != nil {
			t.Errorf("--at %s: %v", at, err)
			continue
		}
		if got := int(e.Moment.At.Sub(began).Seconds()); got != want.second || e.At != want.name {
			t.Errorf("--at %q: second %d as %q, want %d as %q", at, got, e.At, want.second, want.name)
		}
	}
	if _, err := load(t, path, "noon"); !errors.Is(err, ErrAt) || !strings.Contains(err.Error(), "noon") {
		t.Errorf("--at noon: %v", err)
	}
}

func TestARecordingWithoutMomentsSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.hwm")
	w, err := recording.Create(path, recording.Meta{At: began})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, path, ""); !errors.Is(err, ErrNoMoment) {
		t.Errorf("%v, want ErrNoMoment", err)
	}
}
