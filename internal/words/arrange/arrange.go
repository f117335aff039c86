// Package arrange sorts slices of any type by one sort. slices.SortFunc is compiled again for every type,
// which was a megabyte and a half of the program (docs/adr/0170). What is sorted by the hundred thousand, objects of
// a heap and their strings, stays with it.
package arrange

import "slices"

// By sorts s by compare, as slices.SortStableFunc does: what compares equal keeps its order. It takes 8 bytes
// of memory for each element while it sorts.
func By[E any](s []E, compare func(a, b E) int) {
	from := permutation(len(s), func(i, j int) int { return compare(s[i], s[j]) })
	for start, f := range from {
		if f == start || f == placed {
			continue
		}
		first, to := s[start], start
		for f != start {
			s[to], from[to] = s[f], placed
			to, f = f, from[f]
		}
		s[to], from[to] = first, placed
	}
}

// placed marks a place that has its element.
const placed = -1

// permutation tells for each place of the sorted slice where its element is now.
func permutation(n int, compare func(i, j int) int) []int {
	if n < 2 {
		return nil
	}
	from := make([]int, n)
	for i := range from {
		from[i] = i
	}
	slices.SortFunc(from, func(i, j int) int {
		if c := compare(i, j); c != 0 {
			return c
		}
		return i - j
	})
	return from
}
