package pacer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

var (
	began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	key   = sample.ProcessKey{PID: 4711, Start: 99}
)

// TestRecordedRunsAreReplayed goes the whole way, from a recording to an answer, on
// two real runs in text form. The goldens are the answers.
func TestRecordedRunsAreReplayed(t *testing.T) {
	for _, name := range []string{"rangemirror", "cache"} {
		t.Run(name, func(t *testing.T) {
			r, err := recording.Open(recordingOf(t, name))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			h, err := Load(r)
			if err != nil {
				t.Fatal(err)
			}
			a := Tune(h, Options{Recording: name, Limit: 300 * sample.MiB, GOGC: []int32{10, 50, 200}})
			if a.Grade == Refused || a.Grade == Low {
				t.Errorf("grade %s: %q", a.Grade, a.Why)
			}
			hwtest.Golden(t, name+".golden", []byte(inWholeMiB(a)))
		})
	}
}

// inWholeMiB is an answer without what the last bit of a float64 may change.
func inWholeMiB(a *Answer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, floor %d, non-Go %d MiB\n", a.Grade, a.Floor>>20, a.NonGo>>20)
	for _, s := range a.Settings {
		fmt.Fprintf(&b, "GOGC %d: peak %d..%d..%d, resident %d..%d, %d collections, %s, survives: %s\n", *s.GOGC, s.PeakHeap.P5>>20, s.PeakHeap.P50>>20,
			s.PeakHeap.P95>>20, s.Resident.P50>>20, s.Resident.P95>>20, s.GCs, s.Cost, s.Survives)
	}
	fmt.Fprintf(&b, "smallest limit %d, with GOMEMLIMIT %d MiB\n", a.Smallest.AsIs>>20, a.Smallest.Healthy>>20)
	if r := a.Recommended; r != nil {
		fmt.Fprintf(&b, "GOMEMLIMIT %d MiB: %s\n%s\n", r.GOMEMLIMIT>>20, r.Because, r.Kubernetes)
	}
	return b.String()
}

// recordingOf makes a recording of testdata/NAME.txt: lines "program NAME VERSION",
// "columns ...", "tick TIME ...", "gc TIME N MISSED TRIGGER MARKED GOAL ALLOC".
func recordingOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name+".hwm")
	w, err := recording.Create(path, recording.Meta{At: began, CPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		words := strings.Fields(rest)
		switch kind {
		case "program":
			err = w.Program(sample.Program{Key: key, Name: words[0], Exe: "/srv/" + words[0], Go: &sample.GoProgram{Version: words[1]}})
		case "columns":
			names = words
		case "tick":
			err = w.Point(pointOf(t, names, words))
		case "gc":
			err = w.Cycle(cycleOf(t, words))
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	// It ended by itself: the work is all there was.
	if err := w.Event(sample.Event{At: began.Add(time.Hour), Kind: sample.EventExit, Process: key, Text: "exit 0"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// numbers reads a line's figures, the first its time.
func numbers(t *testing.T, words []string) (at time.Time, v []int64) {
	t.Helper()
	for _, word := range words {
		var n int64
		if _, err := fmt.Sscan(word, &n); err != nil {
			t.Fatalf("%q: %v", word, err)
		}
		v = append(v, n)
	}
	return began.Add(time.Duration(v[0])), v[1:]
}

func pointOf(t *testing.T, names, words []string) *sample.Point {
	t.Helper()
	at, v := numbers(t, words)
	f := map[string]int64{}
	for i, name := range names {
		f[name] = v[i]
	}
	size := func(name string) sample.Bytes { return sample.Bytes(f[name]) }
	span := func(name string) time.Duration { return time.Duration(f[name]) }
	return &sample.Point{At: at, Processes: []sample.Process{{Key: key,
		Resident: &sample.Resident{Total: size("resident"), Shared: size("shared"), User: span("user_time"), System: span("system_time")},
		Go: &sample.Runtime{
			GOGC: int32(f["gogc"]), MemoryLimit: f["memory_limit"],
			HeapLive: size("heap_live"), HeapMarked: size("heap_marked"), HeapGoal: size("heap_goal"), Trigger: size("gc_trigger"),
			TotalAlloc: size("total_alloc"), TotalFree: size("total_free"), HeapFree: size("heap_free"), MappedReady: size("mapped_ready"),
			NumGC: uint32(f["num_gc"]), NumForcedGC: uint32(f["num_forced_gc"]), GCPhase: sample.GCPhase(f["gc_phase"]),
			GCAssist: span("gc_assist_time"), GCDedicated: span("gc_dedicated_time"), GCPause: span("gc_pause_time"),
		}}}}
}

func cycleOf(t *testing.T, words []string) sample.GCCycle {
	t.Helper()
	at, v := numbers(t, words)
	return sample.GCCycle{At: at, Process: key, N: uint32(v[0]), Missed: uint32(v[1]), Trigger: sample.Bytes(v[2]),
		Marked: sample.Bytes(v[3]), Goal: sample.Bytes(v[4]), Alloc: sample.Bytes(v[5]), GOGC: 100, Limit: sample.NoMemoryLimit}
}

// There is nothing to begin with.
func TestARecordingWithoutAGoProgramIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.hwm")
	w, err := recording.Create(path, recording.Meta{At: began})
	if err == nil {
		err = w.Program(sample.Program{Key: key, Name: "c"})
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := Load(r); err != ErrNoHistory {
		t.Errorf("error %v", err)
	}
}
