package trial

import (
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestATrialKeepsTheRunsThatItsAnswerRestsOn(t *testing.T) {
	for _, c := range []struct {
		name string
		runs []Run
		want []string
	}{
		{"nothing of nothing", nil, nil},
		{"the only one", made("a", 1, Finished, 10, 1), []string{"a-1.hwm"}},
		{"both", made("a", 2, Finished, 10, 1), []string{"a-1.hwm", "a-2.hwm"}},
		{"the middle and the greatest", made("a", 6, Finished, 10, 1), []string{"a-3.hwm", "a-6.hwm"}},
		{"the first that was killed", made("a", 6, Killed, 10, 1), []string{"a-1.hwm"}},
		{"of each variant", joined(made("a", 3, Killed, 10, 1), made("b", 3, Finished, 10, 1)), []string{"a-1.hwm", "b-2.hwm", "b-3.hwm"}},
		{"of each end", joined(made("a", 2, Finished, 10, 1), made("a", 2, Livelocked, 10, 1), made("a", 2, TimedOut, 10, 1)),
			[]string{"a-1.hwm", "a-2.hwm", "a-1.hwm", "a-1.hwm"}},
	} {
		var got []string
		for i, keep := range Kept(c.runs) {
			if keep {
				got = append(got, c.runs[i].Recording)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestASearchKeepsItsEdge(t *testing.T) {
	step := func(mib int, ended Ended) Step { return Step{Limit: sample.Bytes(mib) * sample.MiB, Ended: ended} }
	steps := []Step{step(64, Finished), step(16, Killed), step(40, Finished), step(28, Killed), step(34, Finished),
		step(34, Finished), step(34, Crawled), step(36, Finished), step(36, Finished)}
	for _, c := range []struct {
		found int // MiB; 0: nothing was survived
		want  []int
	}{{36, []int{6, 7}}, {34, []int{4, 6}}, {0, []int{6}}} {
		f := Fitted{Limit: sample.Bytes(c.found) * sample.MiB, Steps: steps}
		var got []int
		for i, keep := range f.Kept() {
			if keep {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("found %d MiB: %v, want %v", c.found, got, c.want)
		}
	}
}
