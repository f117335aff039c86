package trial

import (
	"cmp"

	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Kept says which runs' recordings stay when a trial is over: what its answer rests
// on, and what somebody would look at next. Of each variant that is
//
//   - the first run of each way to be lost, and
//   - of those that came to their end the one whose peak lies in the middle (the
//     lower of two), and the one with the greatest.
//
// The figures of all runs stay in the answer.
func Kept(runs []Run) []bool {
	keep := make([]bool, len(runs))
	type end struct {
		variant string
		ended   Ended
	}
	finished := map[string][]int{}
	seen := map[end]bool{}
	for i, r := range runs {
		at := end{r.Variant, r.Ended}
		switch {
		case r.Ended == Finished:
			finished[r.Variant] = append(finished[r.Variant], i)
		case !seen[at]:
			seen[at], keep[i] = true, true
		}
	}
	for _, list := range finished {
		sorting.Stable(list, func(a, b int) int {
			return cmp.Compare(runs[a].Values[FigurePeak], runs[b].Values[FigurePeak])
		})
		keep[list[(len(list)-1)/2]], keep[list[len(list)-1]] = true, true
	}
	return keep
}

// Kept says which recordings of a search stay: those of its edge, the lost run with
// the greatest limit and the first that survived the limit that was found.
func (f *Fitted) Kept() []bool {
	keep := make([]bool, len(f.Steps))
	lost, survived := -1, -1
	for i, s := range f.Steps {
		switch {
		case s.Ended.Lost() && (lost < 0 || s.Limit > f.Steps[lost].Limit):
			lost = i
		case !s.Ended.Lost() && s.Limit == f.Limit && survived < 0:
			survived = i
		}
	}
	for _, i := range []int{lost, survived} {
		if i >= 0 {
			keep[i] = true
		}
	}
	return keep
}
