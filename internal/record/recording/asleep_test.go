package recording

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A recording that slept is the same as one that did not: while it sleeps it is live, what
// wakes it comes behind what was there, and its bound holds.
func TestARecordingThatSleptMissesNothing(t *testing.T) {
	start := time.Now().Add(-time.Hour)
	w, path := create(t, Meta{At: start})
	w.SleepAtRest()
	must(t, w.Bound(sample.GiB))
	key := sample.ProcessKey{PID: 1, Start: 1}
	must(t, w.Program(sample.Program{Key: key, Name: "p"}))
	n := 0
	point := func(use sample.Bytes, resting bool) {
		t.Helper()
		n++
		must(t, w.Point(&sample.Point{At: start.Add(time.Duration(n) * time.Second), Resting: resting,
			Cgroup:    &sample.Cgroup{Usage: use},
			Processes: []sample.Process{{Key: key, Resident: &sample.Resident{Total: use}}}}))
	}
	past := func() { w.committed, w.sleeper.woken = time.Time{}, time.Time{} } // some seconds have passed
	for round := range 3 {
		use := sample.Bytes(50+10*round) * sample.MiB
		point(use, false)
		point(use, true)
		for range 5 {
			point(use, true)
			past()
		}
		if !w.sleeper.asleep {
			t.Fatalf("round %d: it does not sleep", round)
		}
		must(t, w.Flush())
		if !w.sleeper.asleep {
			t.Errorf("round %d: it was woken to write that nothing is new", round)
		}
		r := open(t, path)
		if !r.Live() {
			t.Errorf("round %d: asleep, it is taken for one whose writer was killed", round)
		}
		s, err := r.Samples(ColUsage)
		must(t, err)
		if s.Len() == 0 || s.Column(ColUsage)[s.Len()-1] != float64(use) {
			t.Errorf("round %d: %d samples can be read", round, s.Len())
		}
		must(t, r.Close())
		must(t, w.Event(sample.Event{At: start.Add(time.Duration(n) * time.Second), Kind: sample.EventNote, Text: "news"}))
		if w.sleeper.asleep {
			t.Errorf("round %d: news do not wake it", round)
		}
		must(t, w.Flush())
		if most, err := w.db.integer("PRAGMA max_page_count"); err != nil || most != int64(sample.GiB/4096) {
			t.Errorf("round %d: its file may have %d pages, %v", round, most, err)
		}
	}
	must(t, w.Close())
	r := open(t, path)
	s, err := r.Samples(ColUsage)
	must(t, err)
	if s.Len() != n {
		t.Errorf("%d samples of %d points", s.Len(), n)
	}
	events, err := r.Events()
	must(t, err)
	if len(events) != 3 {
		t.Errorf("%d events, want 3", len(events))
	}
}

// One that is closed, or fails, while it sleeps leaves a whole file.
func TestARecordingCanBeClosedAsleep(t *testing.T) {
	w, path := create(t, Meta{At: time.Now()})
	w.SleepAtRest()
	must(t, w.sleep())
	must(t, w.Close())
	r := open(t, path)
	if r.Live() {
		t.Error("it is still being written")
	}
	must(t, Verify(path))
}

// A watch flushes each half minute. That does not keep the recording of a program at rest awake,
// and what waits is written all the same once it has waited for minutes.
func TestAFlushOfARestDoesNotKeepARecordingAwake(t *testing.T) {
	start := time.Now().Add(-time.Hour)
	w, path := create(t, Meta{At: start})
	w.SleepAtRest()
	key := sample.ProcessKey{PID: 1, Start: 1}
	must(t, w.Program(sample.Program{Key: key, Name: "p"}))
	n := 0
	point := func(resting bool, use sample.Bytes) {
		t.Helper()
		n++
		must(t, w.Point(&sample.Point{At: start.Add(time.Duration(n) * time.Second), Resting: resting,
			Processes: []sample.Process{{Key: key, Resident: &sample.Resident{Total: use}}}}))
	}
	point(false, sample.MiB)
	must(t, w.Flush()) // it begins to rest
	before := w.committed
	for i := range 10 { // and moves a little now and then
		point(true, sample.MiB+sample.Bytes(i/3)*200*sample.KiB)
		must(t, w.Flush())
	}
	if w.committed != before {
		t.Error("points of a rest were written at once")
	}
	w.lastSync = time.Time{} // minutes have passed
	must(t, w.Flush())
	if w.committed == before {
		t.Error("after minutes it was not written")
	}
	must(t, w.Event(sample.Event{At: start.Add(time.Minute), Kind: sample.EventNote, Text: "news"}))
	must(t, w.Flush())
	if w.begun {
		t.Error("an event waits for minutes")
	}
	point(true, 9*sample.MiB)
	before = w.committed
	point(false, 99*sample.MiB)
	must(t, w.Flush())
	if w.committed == before || w.queued > 0 {
		t.Error("what has moved waits for minutes")
	}
	must(t, w.Close())
	r := open(t, path)
	s, err := r.Samples(ColUsage)
	must(t, err)
	if s.Len() != n {
		t.Errorf("%d samples of %d points", s.Len(), n)
	}
}
