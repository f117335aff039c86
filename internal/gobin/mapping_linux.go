package gobin

import (
	"os"
	"syscall"
	"unsafe"
)

func mapOpen(f *os.File, size int) (*mapping, error) {
	data, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return &mapping{data: data, mapped: true}, nil
}

func unmap(data []byte) error { return syscall.Munmap(data) }

// release drops part's whole pages from our resident set; they come back from
// the page cache when read again. Failure only costs memory.
func (m *mapping) release(part []byte) {
	if !m.mapped || len(part) == 0 {
		return
	}
	page := os.Getpagesize()
	first := int(uintptr(unsafe.Pointer(&part[0])) - uintptr(unsafe.Pointer(&m.data[0])))
	lo := (first + page - 1) / page * page
	hi := (first + len(part)) / page * page
	if lo < hi {
		_ = syscall.Madvise(m.data[lo:hi], syscall.MADV_DONTNEED)
	}
}
