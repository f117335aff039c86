package malloc

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// mostHeads bounds how many pages are looked at for large blocks: 4 GiB of 4 KiB.
const mostHeads = 1 << 20

// headsAtOnce is how many pages are looked at by one call.
const headsAtOnce = 512

// readMapped finds large blocks: each is an anonymous mapping of whole pages that begins with
// its size (malloc/malloc.c, sysmalloc_mmap). The kernel joins neighbours, also those that are
// not malloc's, so that one may begin at any page.
func (r *reader) readMapped() {
	r.mapped = map[uint64]uint64{}
	if r.params.known && r.params.mmaps == 0 {
		return
	}
	left := mostHeads
	for _, joined := range []bool{false, true} {
		for i := range r.Mappings {
			m := &r.Mappings[i]
			if m.File || m.Path != "" || !m.Writable || m.Start%heapMax == 0 && r.isHeap(m.Start) {
				continue
			}
			at := r.mappedIn(m.Start, m.End, !joined)
			if joined && r.params.known && r.out.MappedBlocks < r.params.mmaps {
				r.joinedIn(at, m.End, &left)
			}
		}
	}
	if r.params.known { // what was found may be a part
		r.out.MappedBlocks, r.out.Mapped = r.params.mmaps, sample.Bytes(r.params.mmappedMem)
	}
}

// isHeap says that a thread's heap begins at an address.
func (r *reader) isHeap(addr uint64) bool {
	arena, err := r.random(addr)
	return err == nil && (arena%heapMax == heapInfo || arena%heapMax == heapInfoOld)
}

// mappedIn counts the large blocks that lie one behind another from an address on, or passes
// over them, and says where they end.
func (r *reader) mappedIn(at, end uint64, add bool) uint64 {
	var head [16]byte
	for at < end && !r.late() && r.present.has(r, at) {
		n, _ := r.Memory.ReadAt(head[:], int64(at))
		size := r.blockOf(head[:n], end-at)
		if size == 0 || add && !r.addMapped(size) {
			break
		}
		at += size
	}
	return at
}

// blockOf is the size of the large block that a page begins with, 0: none begins there.
func (r *reader) blockOf(head []byte, room uint64) uint64 {
	if len(head) < 16 {
		return 0
	}
	before, word := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[8:])
	if size := word &^ sizeFlags; word&sizeFlags == isMmapped && before == 0 && size%r.Page == 0 && size <= room {
		return size
	}
	return 0
}

// addMapped counts a large block, unless that is more than malloc itself says that it has.
func (r *reader) addMapped(size uint64) bool {
	if r.params.known && (r.out.MappedBlocks >= r.params.mmaps || uint64(r.out.Mapped)+size > r.params.mmappedMem) {
		return false
	}
	count(r.mapped, size, 1)
	r.out.MappedBlocks++
	r.out.Mapped += sample.Bytes(size)
	return true
}

// pieces is a memory that reads many pieces by one call.
type pieces interface {
	ReadPieces(p []byte, pieces [][2]uint64) error
}

// joinedIn looks for large blocks at the start of every page.
func (r *reader) joinedIn(at, end uint64, left *int) {
	mem, ok := r.Memory.(pieces)
	if !ok {
		return
	}
	buf := make([]byte, 16*headsAtOnce)
	list := make([][2]uint64, 0, headsAtOnce)
	for at < end && *left > 0 && !r.late() {
		list = list[:0]
		for ; at < end && len(list) < headsAtOnce && *left > 0; at += r.Page {
			if r.present.has(r, at) {
				list = append(list, [2]uint64{at, at + 16})
				*left--
			} else if at%presencePiece == 0 && r.late() {
				return
			}
		}
		if len(list) == 0 || mem.ReadPieces(buf[:16*len(list)], list) != nil {
			continue
		}
		at = max(at, r.joined(buf, list, end))
	}
}

// joined counts the large blocks among pages that were looked at, and says where the last ends.
func (r *reader) joined(buf []byte, list [][2]uint64, end uint64) (past uint64) {
	for i, p := range list {
		if p[0] < past {
			continue
		}
		if size := r.blockOf(buf[16*i:16*i+16], end-p[0]); size != 0 && r.addMapped(size) {
			past = p[0] + size
		}
	}
	return past
}

// finish orders what was counted.
func (r *reader) finish() {
	o := &r.out
	sizes := make([]sample.MallocSize, 0, len(r.sizes)+len(r.mapped))
	for i, n := range r.small {
		if n > 0 {
			sizes = append(sizes, sample.MallocSize{Size: sample.Bytes(16 * i), Count: n})
		}
	}
	for size, n := range r.sizes {
		sizes = append(sizes, sample.MallocSize{Size: sample.Bytes(size), Count: n})
	}
	for size, n := range r.mapped {
		sizes = append(sizes, sample.MallocSize{Size: sample.Bytes(size), Count: n, Mapped: true})
	}
	sizes = slices.DeleteFunc(sizes, func(s sample.MallocSize) bool { return s.Count == 0 })
	slices.SortFunc(sizes, func(a, b sample.MallocSize) int {
		return cmp.Or(cmp.Compare(b.Bytes(), a.Bytes()), cmp.Compare(b.Size, a.Size))
	})
	for _, s := range sizes[min(len(sizes), sample.MaxSizes):] {
		o.OtherBlocks += s.Count
		o.OtherBytes += s.Bytes()
	}
	o.Sizes = sizes[:min(len(sizes), sample.MaxSizes)]
}
