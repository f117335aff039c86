package pacer

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestEndsOfAnIntervalAreTakenByRank(t *testing.T) {
	var scores []float64
	for i := range 99 {
		scores = append(scores, float64((i*37)%99)-49) // -49 to 49
	}
	if e := endsOf(scores); e.low != -45 || e.high != 45 {
		t.Errorf("%+v, want the 95th of 99 from either end", e)
	}
	if e := endsOf([]float64{0.1, 0.7, 0.2}); e.high != 0.7 || e.low != 0 {
		t.Errorf("%+v: of few, the greatest; and what was predicted is in it", e)
	}
	if e := endsOf(nil); e.high <= 0 || e.low >= 0 {
		t.Errorf("%+v: without experience nothing is sure", e)
	}
}

func TestAnIntervalIsWiderWhereTheModelIsLessSure(t *testing.T) {
	e := ends{-1, 2}
	if r := e.around(100*mib, 0.1); r.P5 != 90<<20 || r.P50 != 100<<20 || r.P95 != 120<<20 {
		t.Errorf("%d %d %d MiB", r.P5>>20, r.P50>>20, r.P95>>20)
	}
}

// TestIntervalsHoldTheRunsOfProgramsThatTheyHaveNotSeen judges the committed table: each
// program by intervals that are made of the others.
func TestIntervalsHoldTheRunsOfProgramsThatTheyHaveNotSeen(t *testing.T) {
	all := programsOf(t, residualsTable)
	if len(all) < 8 {
		t.Fatalf("the table is of %d programs", len(all))
	}
	for kind, least := range map[string]float64{"heap": 0.85, "resident": 0.80, "kept": 0.80} {
		below, n := 0, 0
		for i := range all {
			others := append(append([]OfProgram{}, all[:i]...), all[i+1:]...)
			_, above, runs := readErrors(Table(others)).of(kind).holds(all[i].Residuals, kind)
			below, n = below+runs-above, n+runs
		}
		if n < 10 || float64(below) < least*float64(n) {
			t.Errorf("%s: %d of %d lie below the upper end", kind, below, n)
		}
	}
}

func programsOf(t *testing.T, table string) (all []OfProgram) {
	t.Helper()
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if len(f) != 6 || f[0] == "kind" {
			continue
		}
		var v [3]float64
		for i := range v {
			var err error
			if v[i], err = strconv.ParseFloat(f[3+i], 64); err != nil || math.IsNaN(v[i]) {
				t.Fatalf("%s: %v", line, err)
			}
		}
		if len(all) == 0 || all[len(all)-1].Program != f[1] {
			all = append(all, OfProgram{Program: f[1]})
		}
		p := &all[len(all)-1]
		p.Residuals = append(p.Residuals, Residual{f[0], f[2], v[0], v[1], v[2]})
	}
	return all
}
