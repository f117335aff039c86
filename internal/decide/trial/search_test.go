package trial

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// searched runs a search against a program that needs need(run) in each run, and
// gives the limits that were run under.
func searched(t *testing.T, s *Search, need func(run int) sample.Bytes) (limits []sample.Bytes) {
	t.Helper()
	for run := range 500 {
		limit, phase := s.Next()
		if phase == Over {
			return limits
		}
		if limit < s.Floor || limit > s.Ceiling {
			t.Fatalf("%s at %d, which is not between %d and %d", phase, limit, s.Floor, s.Ceiling)
		}
		limits = append(limits, limit)
		s.Note(limit >= need(run))
	}
	t.Fatalf("it does not end: %v", limits)
	return nil
}

func TestASearchEndsJustAboveWhatIsNeeded(t *testing.T) {
	const mib = sample.MiB
	for _, need := range []sample.Bytes{5 * mib, 6*mib + 1, 40 * mib, 63 * mib, 64 * mib, 100 * mib, 117*mib + 5, 300 * mib, 1000 * mib} {
		s := &Search{From: 60 * mib, To: 110 * mib, Floor: 4 * mib, Ceiling: 1024 * mib, Confirm: 10}
		limits := searched(t, s, func(int) sample.Bytes { return need })
		got, confirmed, ok := s.Found()
		if !ok || confirmed != 10 || got < need || float64(got) > 1.04*float64(need)+2*float64(grain(need)) {
			t.Errorf("needs %d: found %d, confirmed %d (%v), by %d", need, got, confirmed, ok, limits)
		}
		if len(limits) > 35 {
			t.Errorf("needs %d: %d runs", need, len(limits))
		}
	}
}

func TestAGoodPredictionNeedsFewRuns(t *testing.T) {
	s := &Search{From: 90 * sample.MiB, To: 115 * sample.MiB, Floor: 4 * sample.MiB, Ceiling: 1 << 30, Confirm: 10}
	if limits := searched(t, s, func(int) sample.Bytes { return 100 * sample.MiB }); len(limits) > 6+10 {
		t.Errorf("%d runs: %d", len(limits), limits)
	}
}

func TestALuckySurvivorIsNotConfirmed(t *testing.T) {
	// It needs between 95 and 105 MiB: what was found by luck is raised until ten runs
	// in a row survive.
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := &Search{From: 90 * sample.MiB, To: 115 * sample.MiB, Floor: 4 * sample.MiB, Ceiling: 1 << 30, Confirm: 10}
		limits := searched(t, s, func(int) sample.Bytes { return 95*sample.MiB + sample.Bytes(rng.IntN(int(10*sample.MiB))) })
		got, confirmed, ok := s.Found()
		if !ok || confirmed != 10 || got < 96*sample.MiB || got > 120*sample.MiB {
			t.Errorf("seed %d: found %d, confirmed %d, by %d", seed, got, confirmed, limits)
		}
		if last := limits[len(limits)-10:]; slices.Min(last) != got || slices.Max(last) != got {
			t.Errorf("seed %d: the last ten runs were not at %d: %d", seed, got, last)
		}
	}
}

func TestTheBoundsOfASearchHold(t *testing.T) {
	never := &Search{From: 10 * sample.MiB, To: 20 * sample.MiB, Floor: 4 * sample.MiB, Ceiling: 50 * sample.MiB, Confirm: 3}
	searched(t, never, func(int) sample.Bytes { return 1 << 40 })
	if _, _, ok := never.Found(); ok {
		t.Error("a limit was found that nothing survives")
	}
	always := &Search{From: 10 * sample.MiB, To: 20 * sample.MiB, Floor: 8 * sample.MiB, Ceiling: 50 * sample.MiB, Confirm: 3}
	searched(t, always, func(int) sample.Bytes { return 0 })
	if got, _, ok := always.Found(); !ok || got != 8*sample.MiB {
		t.Errorf("found %d, %v, want the floor", got, ok)
	}
}

func FuzzASearchEnds(f *testing.F) {
	f.Add(uint32(60), uint32(110), uint32(4), uint32(1024), uint64(3))
	f.Fuzz(func(t *testing.T, from, to, floor, ceiling uint32, seed uint64) {
		mib := func(n uint32) sample.Bytes { return sample.Bytes(n%4096+4) * sample.MiB }
		s := &Search{From: mib(from), To: mib(to), Floor: mib(floor), Ceiling: mib(floor) + mib(ceiling), Confirm: 5}
		rng := rand.New(rand.NewPCG(seed, 2))
		searched(t, s, func(int) sample.Bytes { return sample.Bytes(rng.Uint64N(uint64(2 * s.Ceiling))) })
	})
}

func TestWhatIsFoundIsRecommendedWithSomethingToSpare(t *testing.T) {
	f := &Fit{Setup: Setup{Program: "server", Machine: Machine{CPUs: 2, Kernel: "6.18"}},
		AsIs:    &Fitted{Limit: 200 * sample.MiB, Confirmed: 10, Chance: 0.26},
		Limited: &Fitted{Limit: 100 * sample.MiB, Confirmed: 10, Chance: 0.26}}
	g := pacer.MemoryLimitFor(100*sample.MiB, 10*sample.MiB)
	f.Limited.GOMEMLIMIT = &g
	f.Conclude("./server", pacer.Setting{GOGC: 100, Limit: sample.NoMemoryLimit}, 10*sample.MiB)
	r := f.Recommended
	if r == nil || r.Limit != 110*sample.MiB || r.GOMEMLIMIT != 96*sample.MiB || r.Shell != "GOMEMLIMIT=96MiB ./server" ||
		r.Docker != "docker run --memory 110m -e GOMEMLIMIT=96MiB" {
		t.Errorf("%+v", r)
	}
	if want := "100 MiB with GOMEMLIMIT=86MiB: the program survived 10 of 10 confirming runs (true failure rate below 26% with 95% confidence)"; f.Sentence != want {
		t.Errorf("%q, want %q", f.Sentence, want)
	}
	f.Limited = nil
	f.Conclude("./server", pacer.Setting{GOGC: 100, Limit: sample.NoMemoryLimit}, 0)
	if r := f.Recommended; r.Limit != 220*sample.MiB || r.GOMEMLIMIT != 0 || strings.Contains(r.Shell+r.Docker+r.Systemd+r.Kubernetes, "GOMEMLIMIT") {
		t.Errorf("%+v", r)
	}
}

func TestAMemoryLimitLeavesWhatGoDoesNotCount(t *testing.T) {
	for _, c := range []struct{ limit, nonGo, want sample.Bytes }{
		{100 * sample.MiB, 10 * sample.MiB, 86 * sample.MiB},
		{1000 * sample.MiB, 10 * sample.MiB, 960 * sample.MiB},
		{10 * sample.MiB, sample.MiB, 5 * sample.MiB},
		{4 * sample.MiB, sample.MiB, 0},
	} {
		if got := pacer.MemoryLimitFor(c.limit, c.nonGo); got != c.want {
			t.Errorf("limit %d, non-Go %d: %d, want %d", c.limit, c.nonGo, got, c.want)
		}
	}
}

func TestARunUnderItsMemoryLimitMayNotCrawl(t *testing.T) {
	free := Run{Values: map[string]float64{FigureCPU: 2e9, FigureGCs: 9}}
	for _, c := range []struct {
		name     string
		cpu, gcs float64
		crawls   bool
	}{
		{"as without a limit", 2e9, 9, false},
		{"more often, and cheap", 2.5e9, 51, false},
		{"back to back", 2.5e9, 190, true},
		{"at the price of the CPU", 6.5e9, 40, true},
	} {
		why := Crawls(Run{Values: map[string]float64{FigureCPU: c.cpu, FigureGCs: c.gcs}}, free)
		if (why != "") != c.crawls {
			t.Errorf("%s: %q", c.name, why)
		}
	}
	if why := Crawls(Run{Values: map[string]float64{FigureCPU: 9e9}}, Run{}); why != "" {
		t.Errorf("with nothing to compare with: %s", why)
	}
}
