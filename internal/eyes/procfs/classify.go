package procfs

import "encoding/binary"

// mallocHeap is the size and the alignment of the address space that glibc
// reserves for a heap of a thread's malloc arena: HEAP_MAX_SIZE in
// malloc/arena.c, 64 MiB on 64-bit systems.
const mallocHeap = 64 << 20

// isBSS says that an anonymous mapping is the zeroed data of an executable or
// library: it follows the writable mapping of a file that has code mapped too.
func isBSS(ms []Mapping, i int) bool {
	if i == 0 || ms[i].FileBacked() || ms[i].Path != "" {
		return false
	}
	data := &ms[i-1]
	if data.End != ms[i].Start || !data.FileBacked() || !data.Writable() || data.Perms[3] != 'p' {
		return false
	}
	for j := range ms {
		if ms[j].Perms[2] == 'x' && ms[j].Inode == data.Inode && ms[j].Path == data.Path {
			return true
		}
	}
	return false
}

// isMallocHeap says that a heap of a glibc thread arena begins at addr, which
// has a page behind it and lies in the i-th mapping.
//
// The shape alone, 64 MiB-aligned and followed by inaccessible space up to the
// next multiple, is a Go arena's too. So the heap's first words decide where
// they can be read (struct heap_info, malloc/arena.c): ar_ptr points to the
// arena's malloc_state, right behind the heap_info (32 bytes, since glibc 2.35
// 48) of this heap or, where prev is set, of an earlier one.
func (c *census) isMallocHeap(i int, addr uint64) bool {
	if addr%mallocHeap != 0 || !c.m.mappings[i].Writable() {
		return false
	}
	if _, _, inGo := c.m.rowAt(addr, addr+1); inGo {
		return false
	}
	var b [16]byte
	if c.mem == nil {
		return hasReservedTail(c.m.mappings, i, addr)
	}
	if _, err := c.mem.ReadAt(b[:], int64(addr)); err != nil {
		return hasReservedTail(c.m.mappings, i, addr)
	}
	arena := binary.NativeEndian.Uint64(b[:8])
	prev := binary.NativeEndian.Uint64(b[8:])
	return isHeapInfo(addr, arena, prev)
}

// isHeapInfo judges the first two words of what may be a malloc heap at addr.
func isHeapInfo(addr, arena, prev uint64) bool {
	first, offset := arena&^(mallocHeap-1), arena%mallocHeap
	if offset != 32 && offset != 48 {
		return false
	}
	return first == addr && prev == 0 || first != addr && prev != 0 && prev%mallocHeap == 0
}

// hasReservedTail says that the i-th mapping is followed by inaccessible space
// up to the end of the heap that begins at addr.
func hasReservedTail(ms []Mapping, i int, addr uint64) bool {
	return i+1 < len(ms) && ms[i+1].Start == ms[i].End && !ms[i+1].Accessible() &&
		ms[i+1].End >= addr+mallocHeap
}
