package gomem

import (
	"cmp"
	"slices"

	"github.com/highwater-go/highwater/internal/sample"
)

// StackUse is what goroutines' stacks take, by a program counter.
type StackUse struct {
	PC         uint64
	Goroutines int
	Bytes      sample.Bytes
}

// StacksByCreator sums the stacks of goroutines by the go statement that made
// them, largest first: whole stacks, what is unused of them included.
func StacksByCreator(groups []sample.GoroutineGroup) []StackUse {
	sums := make(map[uint64]StackUse)
	for i := range groups {
		g := &groups[i]
		addStack(sums, g.Creator, g.Count, g.StackBytes)
	}
	return largestFirst(sums)
}

// StacksByFrame sums the frames of goroutines by the place that they stand at,
// largest first. What is unused of the stacks is in none; a recursive call
// counts its goroutines once a frame.
func StacksByFrame(groups []sample.GoroutineGroup) []StackUse {
	sums := make(map[uint64]StackUse)
	for i := range groups {
		g := &groups[i]
		for k, size := range g.Frames {
			addStack(sums, g.Stack[k], g.Count, size*sample.Bytes(g.Count))
		}
	}
	return largestFirst(sums)
}

func addStack(sums map[uint64]StackUse, pc uint64, n int, size sample.Bytes) {
	s := sums[pc]
	s.PC = pc
	s.Goroutines += n
	s.Bytes += size
	sums[pc] = s
}

func largestFirst(sums map[uint64]StackUse) []StackUse {
	all := make([]StackUse, 0, len(sums))
	for _, s := range sums {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b StackUse) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.PC, b.PC))
	})
	return all
}
