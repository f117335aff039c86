// Package sorting puts lists in order by code that all types share.
//
// slices.SortFunc and slices.SortStableFunc are compiled for each type of element anew, with ten functions and the
// tables that stack traces need: in sixty places that is 0.6 MB of the program (docs/adr/0171). They stay where a
// list may have millions of elements, or is put in order at each look at a program: they are faster.
package sorting

import "sort"

// By puts a list in the order of cmp, as slices.SortStableFunc does: what cmp takes to be equal keeps its order.
func By[S ~[]E, E any](list S, cmp func(a, b E) int) {
	sort.SliceStable(list, func(i, j int) bool { return cmp(list[i], list[j]) < 0 })
}
