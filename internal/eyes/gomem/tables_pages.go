package gomem

import (
	"errors"
	"fmt"
)

// addSummaries notes what the page allocator maps of its radix tree: at each
// level the entries for the heap's address ranges (runtime/mpagealloc_64bit.go,
// sysGrow).
func (o *tables) addSummaries() error {
	ptr, n, _, err := o.mem.Slice(o.t.inUse, 16, maxArenas)
	if err != nil {
		return err
	}
	bounds, err := o.mem.Words(nil, ptr, 2*n, o.t.buf)
	if err != nil {
		return err
	}
	for level := range uint64(summaryLevels) {
		base, err := o.mem.U64(o.t.summary + 24*level)
		if err != nil {
			return err
		}
		shift := summaryRoot - summaryBits*level
		for i := 0; i+1 < len(bounds); i += 2 {
			lo := (bounds[i] + o.t.base) >> shift
			hi := (bounds[i+1]+o.t.base-1)>>shift + 1
			if level == 0 {
				lo, hi = 0, 1<<(48-summaryRoot) // the root is one block
			}
			if lo > hi || hi > 1<<(48-shift) {
				return errors.New("a heap range beyond 48 bits")
			}
			o.add(base+lo*summaryEntry, (hi-lo)*summaryEntry)
		}
	}
	return nil
}

// addChunks notes the bitmaps of free and scavenged pages.
func (o *tables) addChunks() error {
	for at := uint64(0); at < 8*chunksL1; {
		piece := o.t.buf[:min(uint64(len(o.t.buf)), 8*chunksL1-at)]
		if err := o.mem.Read(o.t.chunks+at, piece); err != nil {
			return err
		}
		for i := 0; i < len(piece); i += 8 {
			o.add(Word(piece, uint64(i)), chunksL2Size)
		}
		at += uint64(len(piece))
	}
	return nil
}

// addScavenger notes the mapped part of the scavenger's index, which begins at
// the lowest heap address.
func (o *tables) addScavenger() error {
	base, err := o.mem.U64(o.t.scavChunks)
	lo, errLo := o.mem.number(o.t.scavMin)
	hi, errHi := o.mem.number(o.t.scavMax)
	if err := errors.Join(err, errLo, errHi); err != nil {
		return err
	}
	if lo > hi || hi > 1<<48/chunkBytes {
		return fmt.Errorf("entries %d to %d", lo, hi)
	}
	o.add(base+lo*o.t.scavEntry, (hi-lo)*o.t.scavEntry)
	return nil
}
