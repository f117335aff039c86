package main

import "slices"

// median is the middle of some values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// sameP is the probability that two samples from one distribution differ in rank
// as much as these or more: the two-sided Mann-Whitney U test, exact. Values
// must differ from one another, as CPU times in nanoseconds do.
func sameP(a, b []float64) float64 {
	u := 0
	for _, x := range a {
		for _, y := range b {
			if x > y {
				u++
			}
		}
	}
	u = min(u, len(a)*len(b)-u)
	ways := uWays(len(a), len(b))
	var tail, all float64
	for value, n := range ways {
		all += n
		if value <= u {
			tail += n
		}
	}
	return min(1, 2*tail/all)
}

// uWays counts by U the orders in which n and m values can lie. The greatest of
// them is one of the n, and is above all m, or it is one of the m (Mann and
// Whitney 1947).
func uWays(n, m int) []float64 {
	fewer := make([][]float64, m+1) // by how many of the m there are, for one of the n less
	for i := range n + 1 {
		ways := make([][]float64, m+1)
		for j := range m + 1 {
			ways[j] = make([]float64, i*j+1)
			if i == 0 || j == 0 {
				ways[j][0] = 1
				continue
			}
			for u, c := range fewer[j] {
				ways[j][u+j] += c
			}
			for u, c := range ways[j-1] {
				ways[j][u] += c
			}
		}
		fewer = ways
	}
	return fewer[m]
}
