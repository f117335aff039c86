package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/highwater-go/highwater/corpus/truth"
)

const made = "../made"

func TestEveryFamilyHasAProgramWhoseMistakeIsMarked(t *testing.T) {
	used := map[string]bool{"frame": true}
	for _, f := range families {
		for round := range 8 {
			r := newRun(1, f, round)
			used[r.folder()] = true
			got, err := r.truth(made)
			if err != nil {
				t.Fatalf("%s: %v", r.name, err)
			}
			if len(got.Classes) == 0 || got.Trend == "" {
				t.Errorf("%s accepts %q, trend %q", r.name, got.Classes, got.Trend)
			}
			if r.faulty != (len(got.Lines)+len(got.Elsewhere) > 0) || r.faulty && got.Function == "" {
				t.Errorf("%s (faulty: %v) has the lines %v in %q", r.name, r.faulty, got.Lines, got.Function)
			}
		}
	}
	folders, err := os.ReadDir(made)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range folders {
		if !used[d.Name()] {
			t.Errorf("no family runs made/%s", d.Name())
		}
	}
}

func TestARunDependsOnSeedFamilyAndRoundAlone(t *testing.T) {
	few, err := chosen([]string{"sessions", "pile-net"})
	if err != nil {
		t.Fatal(err)
	}
	all := sample(3, 2*len(families), families)
	for _, r := range sample(3, 4, few) {
		same := slices.ContainsFunc(all, func(o *run) bool { return o.name == r.name && o.Run == r.Run })
		if !same {
			t.Errorf("%s is another run where all families are drawn: %+v", r.name, r.Run)
		}
	}
	if a, b := newRun(3, few[0], 0), newRun(4, few[0], 0); a.Run == b.Run {
		t.Errorf("two seeds draw one run: %+v", a.Run)
	}
	if _, err := chosen([]string{"globalmapp"}); err == nil {
		t.Error("a family that is not there was chosen")
	}
	if some, err := chosen(nil); err != nil || len(some) != len(families)-len(others) {
		t.Errorf("without a name %d families are chosen: %v", len(some), err)
	}
	if some, err := chosen([]string{"setA", "sessions"}); err != nil || len(some) != len(othersA)+1 {
		t.Errorf("of set A and one more %d families are chosen: %v", len(some), err)
	}
}

func TestEveryRunIsBoundedAndItsLimitMeansWhatItIsCalled(t *testing.T) {
	for seed := range uint64(40) {
		for _, r := range sample(seed, 2*len(families), families) {
			amount := r.Total
			if amount == 0 {
				amount = r.made()
			}
			if amount > 1000*mib || r.Seconds > 65 || r.Unit <= 0 || r.Limit > 2<<30 {
				t.Errorf("%s", r.summary())
			}
			if (r.LimitKind == "none") != (r.Limit == 0) {
				t.Errorf("limit without a kind: %s", r.summary())
			}
			killed := r.trend == "growing" && r.LimitKind == "killed"
			if killed && r.faulty && amount+r.behind() < r.Limit*5/4 {
				t.Errorf("it does not reach its limit: %s", r.summary())
			}
			if r.shape != nil && !r.faulty && r.Limit > 0 && r.Limit < 20*mib {
				t.Errorf("no room for an innocent one: %s", r.summary())
			}
		}
	}
}

func TestARepairedProgramIsAtRestAfterAQuarterOfItsTime(t *testing.T) {
	for seed := range uint64(40) {
		for _, f := range families {
			r := newRun(seed, f, 1)
			if f.trend == "growing" && r.Total == 0 && r.Rate > 0 && r.Unit < 64<<10 && 500*int64(r.Unit) > r.made()/4+500 {
				t.Errorf("500 pieces are not made in time: %s", r.summary())
			}
		}
	}
}

func TestALimitThatIsToBeSurvivedHasRoomForTheGarbage(t *testing.T) {
	for seed := range uint64(40) {
		for _, f := range families {
			r := newRun(seed, f, 1)
			if f.trend != "growing" || r.Limit == 0 || r.Unit > 64<<10 { // of large pieces they keep one
				continue
			}
			need := float64(r.behind()+500*int64(min(r.Unit, 64<<10))) * r.headroom()
			if float64(r.Limit) < need {
				t.Errorf("%.0f MiB are needed: %s", need/mib, r.summary())
			}
		}
	}
}

func TestWhatIsAcceptedOfOneKilledInItsFirstRiseIsNotALeakAlone(t *testing.T) {
	r := newRun(1, families[0], 0)
	r.LimitKind, r.Limit, r.Background, r.GOGC, r.GOMEMLIMIT = "killed", 24*mib, "none", "", 0
	if classes, trend := r.accepted(); !reflect.DeepEqual(classes, []string{"leak", "baseline", "inconclusive"}) || trend != "unknown" {
		t.Errorf("with %d readings: %q, %s", r.readings(), classes, trend)
	}
	r.Limit, r.Rate, r.Seconds = 200*mib, 20*mib, 20
	if classes, trend := r.accepted(); !reflect.DeepEqual(classes, []string{"leak"}) || trend != "growing" {
		t.Errorf("with %d readings: %q, %s", r.readings(), classes, trend)
	}
}

func TestWhatWasKilledAtItsFirstSpikeWasNotSeenToGoAgain(t *testing.T) {
	some, err := chosen([]string{"gzipbomb"})
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(1, some[0], 0)
	for kind, want := range map[string]string{"killed": "unknown", "none": "comes-and-goes"} {
		r.LimitKind = kind
		if _, trend := r.accepted(); trend != want {
			t.Errorf("limit %s: %s; want %s", kind, trend, want)
		}
	}
}

func TestARecordingIsKeptUnlessItsRunOrItsProgramIsAnother(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a"+truth.Suffix)
	was := &truth.Truth{Name: "a", Classes: []string{"leak"}, Run: truth.Run{Unit: 1, Program: "one"}}
	if kept(file, was) {
		t.Error("what is not there is kept")
	}
	if err := was.Write(file); err != nil {
		t.Fatal(err)
	}
	if kept(file, was) {
		t.Error("a truth without a recording is kept")
	}
	if err := os.WriteFile(truth.Recording(file), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	judged, other := *was, *was
	judged.Classes, other.Run.Program = []string{"leak", "spiral"}, "two"
	if !kept(file, &judged) || kept(file, &other) {
		t.Errorf("another judgement: kept %v; another program: kept %v", kept(file, &judged), kept(file, &other))
	}
}
