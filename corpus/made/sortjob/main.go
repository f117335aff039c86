// Sortjob sorts numbers by merging halves into a new slice at each level: what it
// takes is twice what it was given, once: no fault, and it has no faulty form.
package main

import (
	"log"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	f := frame.Parse()
	for !f.Over() {
		numbers := read(int(f.Total / 8))
		sorted := mergeSort(numbers)
		for i := 1; i < len(sorted); i++ {
			if sorted[i-1] > sorted[i] {
				log.Fatal("not sorted at ", i)
			}
		}
	}
}

func read(n int) []int64 {
	numbers := make([]int64, n) // truth: allocates
	x := int64(1)
	for i := range numbers {
		x = x*6364136223846793005 + 1442695040888963407
		numbers[i] = x
	}
	return numbers
}

func mergeSort(a []int64) []int64 {
	if len(a) < 2 {
		return a
	}
	left, right := mergeSort(a[:len(a)/2]), mergeSort(a[len(a)/2:])
	out := make([]int64, 0, len(a)) // truth: allocates
	for len(left) > 0 && len(right) > 0 {
		if left[0] <= right[0] {
			out, left = append(out, left[0]), left[1:]
		} else {
			out, right = append(out, right[0]), right[1:]
		}
	}
	return append(append(out, left...), right...)
}
