package gomem

import "slices"

// batchSize is how many goroutines are unwound before it is checked whether they
// held still.
const batchSize = 1024

// unwindTries is how often a goroutine that moved meanwhile is read again.
const unwindTries = 3

// batch unwinds goroutines of a program that runs.
type batch struct {
	reader  *goroutineReader
	walk    Walk
	begins  stackBegins
	records RecordReader
	addrs   []uint64
	ends    []int // of each goroutine's stack in walk.pcs
}

// unwind passes every goroutine with its stack to fn, once. One that moved
// while its stack was read is read again; its stack is nil if it never held
// still. The stack is valid during the call only.
func (b *batch) unwind(all []Goroutine, fn func(*Goroutine, []uint64, []uint32)) {
	for try := 1; len(all) > 0; try++ {
		var moved []Goroutine
		for part := range slices.Chunk(all, batchSize) {
			b.stacks(part)
			moved = append(moved, b.settle(part, fn)...)
		}
		if try == unwindTries {
			for i := range moved {
				fn(&moved[i], nil, nil)
			}
			return
		}
		all = moved
	}
}

// stacks unwinds a part, which is sorted by address.
func (b *batch) stacks(part []Goroutine) {
	b.addrs, b.ends, b.walk.PCs = b.addrs[:0], b.ends[:0], b.walk.PCs[:0]
	b.walk.Frames = b.walk.Frames[:0]
	b.begins.read(part)
	for i := range part {
		b.walk.begin = b.begins.begin[i]
		b.walk.Unwind(&part[i])
		b.addrs = append(b.addrs, part[i].Addr)
		b.ends = append(b.ends, len(b.walk.PCs))
	}
}

// settle reads the part's g's again and passes on those that did not move. It
// returns the others as they are now, without those that ended.
func (b *batch) settle(part []Goroutine, fn func(*Goroutine, []uint64, []uint32)) (moved []Goroutine) {
	b.records.Each(b.walk.mem, b.addrs, b.reader.size, func(i int, raw []byte) {
		start := 0
		if i > 0 {
			start = b.ends[i-1]
		}
		g := b.reader.decode(part[i].Addr, raw)
		switch {
		case g == part[i] || g.Status == StatusRunning && part[i].Status == StatusRunning:
			fn(&part[i], b.walk.PCs[start:b.ends[i]], b.walk.Frames[start:b.ends[i]])
		case stateNames[g.Status] != "":
			moved = append(moved, g)
		}
	})
	return moved
}
