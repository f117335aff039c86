package watch

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// A watcher that is kept from its work for more than the two seconds after which the kernel frees a victim's memory
// does not take what is left for what there was.
func TestMemoryThatTheKernelFreedFirstIsNotThatOfTheKill(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup)
	hwtest.Slow(t, "waits until the kernel frees the memory of a program that it killed")
	const limit = 64 * sample.MiB
	k, g := &kept{}, group(t, limit)
	var source *Source
	late := false
	k.onPoint = func(p *sample.Point) {
		if late || len(p.Processes) == 0 || p.Processes[0].Go == nil || p.Cgroup == nil || p.Cgroup.Usage < limit/2 {
			return
		}
		late = true
		source.mu.Lock() // now nothing of it is read
		defer source.mu.Unlock()
		for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
			if usage, err := g.ReadUsage(); err != nil || usage < limit/8 {
				tick.Stop()
				return
			}
		}
	}
	code := runWith(t, Options{HeapProfile: true, Group: g}, k, func(s *Source) { source = s }, testprog(t, "leak"), "-rate", "64MiB")
	if code != 128+int(syscall.SIGKILL) || !late {
		t.Fatalf("exit code %d, late %v", code, late)
	}
	p := k.named("leak")[0]
	if d := k.death(p.Key); d != nil {
		t.Errorf("what was left of it passes for the moment of its kill: %+v", d.Resident)
	}
	if !slices.ContainsFunc(k.events, func(e sample.Event) bool { return e.Kind == sample.EventOOMKill && e.Process == p.Key }) {
		t.Errorf("events %+v, want the kernel's kill of the program", k.events)
	}
	if !slices.ContainsFunc(k.gaps, func(g sample.Gap) bool { return g.What == sample.GapKill && g.Process == p.Key }) {
		t.Errorf("no gap says so: %s", k.gapText())
	}
}

func TestWhatIsLeftOfAKilledProcess(t *testing.T) {
	for name, c := range map[string]struct {
		signal              int
		resident, residency sample.Bytes
		freed               bool
	}{
		"read in time":                       {9, 60 * sample.MiB, 59 * sample.MiB, false},
		"freed while its pages were read":    {9, 60 * sample.MiB, 20 * sample.MiB, true},
		"freed before":                       {9, 60 * sample.MiB, 0, true},
		"it ended by itself":                 {0, 60 * sample.MiB, 0, false},
		"so little that counters may be off": {9, 4 * sample.MiB, 1 * sample.MiB, false},
	} {
		pm := sample.ProcessMoment{Signal: c.signal, Resident: &sample.Resident{Total: c.resident}, Residency: &sample.Residency{Anon: c.residency}}
		if got := freedMeanwhile(&pm); got != c.freed {
			t.Errorf("%s: %v, want %v", name, got, c.freed)
		}
	}
	if freedMeanwhile(&sample.ProcessMoment{Signal: 9, Resident: &sample.Resident{Total: 60 * sample.MiB}}) {
		t.Error("pages that were not read pass for freed")
	}
}

func TestAKillOfWhichNothingWasReadHasAMomentWithoutFigures(t *testing.T) {
	for _, before := range []bool{false, true} {
		s := &Source{gaps: map[told]bool{}, wake: make(chan struct{}, 1)}
		p := &process{key: sample.ProcessKey{PID: 7, Start: 1}, kept: before}
		s.tellFreed(p, sample.ProcessMoment{Key: p.key, Signal: 9})
		k := &kept{}
		for _, give := range s.waiting {
			if err := give(k); err != nil {
				t.Fatal(err)
			}
		}
		if len(k.gaps) != 1 || k.gaps[0].What != sample.GapKill {
			t.Errorf("gaps %+v", k.gaps)
		}
		d := k.death(p.key)
		if (d == nil) != before || d != nil && (d.Signal != 9 || d.Resident != nil || d.Incomplete == "") {
			t.Errorf("with a moment of before %v: %+v", before, d)
		}
	}
}
