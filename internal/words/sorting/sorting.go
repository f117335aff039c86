// Package sorting puts short lists in order. slices.SortStableFunc is compiled once more for each type that it is called with, 10 kB each; what is
// sorted once for an answer or a page does not need its speed (docs/adr/0171).
package sorting

import "sort"

// Stable puts a list in the order of a comparison, which is negative where a comes before b; what is equal keeps its order.
func Stable[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}
