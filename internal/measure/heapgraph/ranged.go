package heapgraph

// ranged is lists, one for each range of numbers, few enough to be looked at where the
// caches are. They are not moved as they grow.
type ranged[T any] struct {
	last [][]T   // of each, a block that has room
	full [][][]T // the blocks that have none
}

const (
	rangeLen = 1 << 15 // numbers of a range
	blockLen = 1 << 10 // of what a list holds
)

// newRanged is empty lists, for numbers below n.
func newRanged[T any](n int) ranged[T] {
	ranges := n/rangeLen + 1
	return ranged[T]{last: make([][]T, ranges), full: make([][][]T, ranges)}
}

// add puts v on the list of the number at.
func (r *ranged[T]) add(at uint32, v T) {
	k := at / rangeLen
	b := &r.last[k]
	if len(*b) == cap(*b) {
		r.another(k)
	}
	*b = append(*b, v)
}

// another begins a block.
func (r *ranged[T]) another(k uint32) {
	if r.last[k] != nil {
		r.full[k] = append(r.full[k], r.last[k])
	}
	r.last[k] = make([]T, 0, blockLen)
}

// take is the blocks of the k-th list, which is let go.
func (r *ranged[T]) take(k int) [][]T {
	blocks := append(r.full[k], r.last[k])
	r.full[k], r.last[k] = nil, nil
	return blocks
}
