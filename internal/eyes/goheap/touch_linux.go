package goheap

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// InLargePages asks the kernel to back a large table of ours by huge pages, which is
// several times faster to touch and to walk at random (madvise(2)). It is no error
// if that cannot be.
func InLargePages[T any](s []T) []T {
	if b := pagesOf(s); len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
	return s
}

// touchAtOnce is how much memory is made present by one call: meanwhile no other thread
// gets any.
const touchAtOnce = 16 << 20

// touch makes the memory of a table present, so that writing to it later waits for no
// page (MADV_POPULATE_WRITE, since Linux 5.14).
func touch[T any](s []T) []T {
	for b := range slices.Chunk(pagesOf(InLargePages(s)), touchAtOnce) {
		if unix.Madvise(b, unix.MADV_POPULATE_WRITE) == nil {
			continue
		}
		for i := 0; i < len(b); i += pageOfKernel {
			b[i] = 0
		}
	}
	return s
}

// pagesOf is the whole pages of a slice's array.
func pagesOf[T any](s []T) []byte {
	if cap(s) == 0 {
		return nil
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	size := uintptr(cap(s)) * unsafe.Sizeof(s[:1][0])
	skip := (pageOfKernel - start%pageOfKernel) % pageOfKernel
	if size < skip+pageOfKernel {
		return nil
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size)
	return b[skip : skip+(size-skip)&^(pageOfKernel-1)]
}
