package trial

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// made are n runs of a variant that ended so, with a peak around MiB and a time.
func made(variant string, n int, ended Ended, peak float64, seconds float64) (runs []Run) {
	for i := range n {
		r := Run{Variant: variant, N: i + 1, Recording: fmt.Sprintf("%s-%d.hwm", variant, i+1), Ended: ended, Values: map[string]float64{}}
		r.Values[FigurePeak] = (peak + float64(i)/10) * float64(sample.MiB)
		r.Values[FigureTime] = (seconds + float64(i)/1000) * 1e9
		runs = append(runs, r)
	}
	return runs
}

func joined(lists ...[]Run) (all []Run) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func variantsOf(names ...string) (list []Variant) {
	for _, n := range names {
		list = append(list, Variant{Name: n})
	}
	return list
}

var limited = Setup{Program: "server", Limit: 256 * sample.MiB, Machine: Machine{CPUs: 2, Kernel: "6.18"}}

func TestAVariantIsJudgedByWhatWasLost(t *testing.T) {
	for _, c := range []struct {
		name    string
		base    []Run
		variant []Run
		want    State
	}{
		{"cured", made("base", 6, Killed, 256, 1), made("b", 6, Finished, 100, 2), Proved},
		{"the same", made("base", 6, Killed, 256, 1), made("b", 6, Killed, 256, 1), Refuted},
		{"another end is no cure", made("base", 6, Killed, 256, 1), made("b", 6, Livelocked, 256, 60), Refuted},
		{"crashing is no cure", made("base", 6, Killed, 256, 1), made("b", 6, Failed, 10, 0), Refuted},
		{"too few runs", made("base", 3, Killed, 256, 1), made("b", 3, Finished, 100, 2), Open},
		{"seldom lost", made("base", 12, Killed, 256, 1), joined(made("b", 3, Killed, 256, 1), made("b", 9, Finished, 100, 2)), Helps},
		{"a base that is seldom lost", joined(made("base", 1, Killed, 256, 1), made("base", 5, Finished, 250, 1)), made("b", 6, Finished, 100, 2), Open},
		{"worse", joined(made("base", 1, Killed, 256, 1), made("base", 9, Finished, 250, 1)), made("b", 10, Killed, 256, 1), Worse},
	} {
		a := Compare(limited, variantsOf("base", "b"), joined(c.base, c.variant))
		if got := a.Variants[1].State; got != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, got, a.Variants[1].Why, c.want)
		}
		if best := a.Best != ""; best != (c.want == Proved) {
			t.Errorf("%s: the best is %q: %s", c.name, a.Best, a.Sentence)
		}
	}
}

func TestALostRunIsABoundAndNeverAveraged(t *testing.T) {
	runs := joined(made("base", 6, Killed, 256, 1), made("b", 4, Finished, 100, 2), made("b", 2, Killed, 256, 0.1))
	a := Compare(limited, variantsOf("base", "b"), runs)
	base, b := a.Variants[0].Cell(FigurePeak), a.Variants[1].Cell(FigurePeak)
	if base.Median != nil || base.Bounds != 6 || base.Runs != 0 {
		t.Errorf("base: %+v", base)
	}
	// Of 100.0, 100.1, 100.2, 100.3 and two bounds the median is between 100.2 and 100.3.
	if want := 100.25 * float64(sample.MiB); b.Median == nil || math.Abs(*b.Median-want) > 1 || b.High != nil {
		t.Errorf("b: %+v, want a median of %v and no upper end", b, want)
	}
	if time := a.Variants[1].Cell(FigureTime); time.Runs != 4 || time.Bounds != 0 || *time.Median < 1.9e9 {
		t.Errorf("the time of killed runs is in it: %+v", time)
	}
	if !strings.Contains(strings.Join(a.Notes, "\n"), "of the 4 of 6 runs that came to their end") {
		t.Errorf("that is not said: %q", a.Notes)
	}
}

func TestTheBestIsTheOneWithTheLeastMemoryAndSaysWhatItCosts(t *testing.T) {
	runs := joined(made("base", 6, Killed, 256, 1), made("limit", 6, Finished, 200, 1), made("stream", 6, Finished, 50, 3), made("same", 6, Killed, 256, 1))
	a := Compare(limited, variantsOf("base", "limit", "stream", "same"), runs)
	if a.Best != "stream" {
		t.Errorf("the best is %q: %s", a.Best, a.Sentence)
	}
	for _, want := range []string{"stream cures it: 0 of 6 runs lost, against 6 of 6 (p=0.002)", "peak 50.2 MiB", "less than limit",
		"It costs time 3.0 s against 1.0 s of limit"} {
		if !strings.Contains(a.Sentence, want) {
			t.Errorf("%q is not in: %s", want, a.Sentence)
		}
	}
	if want := "True for these binaries, a limit of 256 MiB without swap, 2 CPUs, Linux 6.18."; a.TrueFor != want {
		t.Errorf("%q, want %q", a.TrueFor, want)
	}
}

func TestNoiseIsMarked(t *testing.T) {
	runs := joined(made("base", 6, Finished, 100, 1), made("b", 6, Finished, 100, 1), made("c", 6, Finished, 50, 1))
	s := limited
	s.Compare = true
	a := Compare(s, variantsOf("base", "b", "c"), runs)
	if c := a.Variants[1].Cell(FigurePeak); !c.Noise || *c.P != 1 {
		t.Errorf("equal runs: %+v", c)
	}
	if c := a.Variants[2].Cell(FigurePeak); c.Noise || math.Abs(*c.Delta+0.5) > 0.01 {
		t.Errorf("half: %+v", c)
	}
	if a.Best != "c" || !strings.HasPrefix(a.Sentence, "c needs the least memory") {
		t.Errorf("%s: %s", a.Best, a.Sentence)
	}
}

func TestAnAnswerHasNoNullListsAndNoInfinities(t *testing.T) {
	for _, runs := range [][]Run{nil, made("base", 1, Killed, 256, 1), joined(made("base", 6, Killed, 256, 1), made("b", 6, Livelocked, 256, 1))} {
		text, err := json.Marshal(Compare(limited, variantsOf("base", "b"), runs))
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"variants", "runs", "notes"} {
			if strings.Contains(string(text), `"`+list+`":null`) {
				t.Errorf("%s is null in %s", list, text)
			}
		}
	}
}

func TestABusyMachineIsSaid(t *testing.T) {
	busy := 0.5
	s := limited
	s.Machine.Busy = &busy
	if a := Compare(s, variantsOf("base"), made("base", 6, Killed, 256, 1)); !strings.Contains(strings.Join(a.Notes, " "), "others took 50% of the CPUs") {
		t.Errorf("%q", a.Notes)
	}
}

func TestEachRoundHasEachVariantOnce(t *testing.T) {
	order := Order(5, 40)
	firsts := map[int]bool{}
	for round := range 40 {
		seen := map[int]bool{}
		for _, i := range order[5*round : 5*round+5] {
			seen[i] = true
		}
		if len(seen) != 5 {
			t.Fatalf("round %d: %v", round, order[5*round:5*round+5])
		}
		firsts[order[5*round]] = true
	}
	if len(firsts) != 5 {
		t.Errorf("only %v are ever first", firsts)
	}
}
