package gostats

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// follow reads the buckets that were put before the newest one known.
func (p *profileReader) follow(r *gomem.Runtime) error {
	m := r.Memory()
	head, err := m.U64(p.head)
	if err != nil || head == p.newest {
		return err
	}
	defer p.reader.Give(p.reader.Take())
	w := bucketWalk{near: gomem.NewCursor(m), p: p, most: r.Room().Most() / 2, // slices that grow take twice their size
		frames: p.frameTotal, raw: p.reader.Buf[:8*maxFrames]}
	for at := head; at != p.newest; {
		if at == 0 {
			return errors.New("the list of buckets ends before the one known to be in it")
		}
		if at, err = w.step(at); err != nil {
			return err
		}
	}
	p.announce(w.fresh, w.found)
	p.newest, p.frameTotal, p.left = head, w.frames, p.left+w.left
	return nil
}

// perBucket is what a bucket takes of our memory beside its stack: its description, its
// addresses and counts, and its place in a profile.
const perBucket = 1000

// bucketWalk follows the list from its head on.
type bucketWalk struct {
	p      *profileReader
	near   *gomem.Cursor
	fresh  []uint64 // addresses
	found  []sample.Bucket
	frames int
	left   int // buckets that were counted only
	taken  sample.Bytes
	most   sample.Bytes // that may be taken
	slab   []uint64
	raw    []byte
	// A list that leads into a circle meets the bucket that was noted last.
	noted uint64
	steps int
}

// step reads the bucket at addr, or counts it if there are too many, and returns
// the next.
func (w *bucketWalk) step(addr uint64) (next uint64, err error) {
	w.steps++
	if addr == w.noted || w.steps > maxWalk {
		return 0, errors.New("the list of buckets has no end")
	}
	if w.steps&(w.steps-1) == 0 { // every power of two (Brent)
		w.noted = addr
	}
	b, n, next, err := w.p.readHeader(w.near, addr)
	if err != nil {
		return 0, err
	}
	need := perBucket + sample.Bytes(8*n)
	if len(w.p.buckets)+len(w.found) >= w.p.limit || w.frames+n > maxFramesTotal || w.taken+need > w.most {
		w.left++
		return next, nil
	}
	if b.Stack, err = w.stack(addr+w.p.header, n); err != nil {
		return 0, err
	}
	w.frames += n
	w.taken += need
	w.fresh, w.found = append(w.fresh, addr), append(w.found, b)
	return next, nil
}

// stack reads n words. Stacks of neighbours share an array.
func (w *bucketWalk) stack(addr uint64, n int) ([]uint64, error) {
	const slabSize = 8 << 10
	raw := w.raw[:8*n]
	if err := w.near.Read(addr, raw); err != nil {
		return nil, err
	}
	if len(w.slab) < n {
		w.slab = make([]uint64, slabSize)
	}
	stack := w.slab[:n:n]
	w.slab = w.slab[n:]
	for i := range stack {
		stack[i] = gomem.Word(raw, 8*uint64(i))
	}
	return stack, nil
}

// announce appends new buckets, which the walk found newest first, in the order
// the program made them.
func (p *profileReader) announce(addrs []uint64, found []sample.Bucket) {
	known := len(p.records)
	for i := len(addrs) - 1; i >= 0; i-- {
		p.order = append(p.order, int32(len(p.records)))
		p.buckets = append(p.buckets, found[i])
		p.depths = append(p.depths, uint16(len(found[i].Stack)))
		p.records = append(p.records, addrs[i]+p.header+8*uint64(len(found[i].Stack)))
	}
	byAddress := func(a, b int32) int { return cmp.Compare(p.records[a], p.records[b]) }
	fresh := slices.Clone(p.order[known:])
	slices.SortFunc(fresh, byAddress)
	gomem.Merge(p.order, known, fresh, byAddress)
	p.sorted = p.sorted[:0]
	for _, i := range p.order {
		p.sorted = append(p.sorted, p.records[i])
	}
	p.values = append(p.values, make([]record, len(addrs))...)
}

// readHeader reads the header of the bucket at addr: its size, how many frames
// follow, and where the next one is.
func (p *profileReader) readHeader(near *gomem.Cursor, addr uint64) (b sample.Bucket, frames int, next uint64, err error) {
	header := p.reader.Buf[:p.header]
	if err := near.Read(addr, header); err != nil {
		return b, 0, 0, err
	}
	n := gomem.Word(header, p.frames)
	if typ := gomem.Word(header, p.typ); typ != memProfile || n > maxFrames {
		return b, 0, 0, fmt.Errorf("no bucket at %#x: type %d, %d frames", addr, typ, n)
	}
	b.Size = sample.Bytes(gomem.Word(header, p.size))
	return b, int(n), gomem.Word(header, p.next), nil
}

// index is the number of the bucket at addr. Its record is the first behind it.
func (p *profileReader) index(addr uint64) (int, bool) {
	k, _ := slices.BinarySearch(p.sorted, addr)
	if k == len(p.sorted) {
		return 0, false
	}
	i := int(p.order[k])
	return i, p.sorted[k] == addr+p.header+8*uint64(p.depths[i])
}
