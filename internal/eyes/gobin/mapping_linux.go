package gobin

import (
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"unsafe"
)

// far are the file systems whose pages come from somebody who may never answer: a page
// fault of ours there would stop all of this process (include/uapi/linux/magic.h).
var far = []uint32{
	0x65735546,                     // FUSE
	0x6969,                         // NFS
	0x517b, 0xfe534d42, 0xff534d42, // SMB
	0x01021997, // 9P
	0x00c36400, // Ceph
	0x5346414f, // AFS
}

// maxFar bounds what is read of a file there, instead of being mapped.
const maxFar = 512 << 20

func mapOpen(f *os.File, size int) (*mapping, error) {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil || slices.Contains(far, uint32(st.Type)) { // FUSE's server may refuse to say
		return readOpen(f, size)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return &mapping{data: data, mapped: true}, nil
}

// readOpen reads a file: a call that waits is another's time to go on.
func readOpen(f *os.File, size int) (*mapping, error) {
	if size > maxFar {
		return nil, &os.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("it has more than %d MiB and lies on a file server or in FUSE, where it is not mapped",
			maxFar>>20)}
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	return &mapping{data: data}, nil
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
