package procfs

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readDirect reads all of p by process_vm_readv(2), or says no: then the file
// knows more. It serves a process whose first thread has ended no longer.
func readDirect(pid int, p []byte, addr int64) bool {
	local := [1]unix.Iovec{{Base: &p[0]}}
	local[0].SetLen(len(p))
	n, err := unix.ProcessVMReadv(pid, local[:], []unix.RemoteIovec{{Base: uintptr(addr), Len: len(p)}}, 0)
	return err == nil && n == len(p)
}

// readSmall reads a piece of memory through its file: a few microseconds, so
// Go's scheduler is not told (see pread). It says no where not all is there.
func readSmall(f *os.File, p []byte, addr int64) bool {
	n, _, err := unix.RawSyscall6(unix.SYS_PREAD64, f.Fd(), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), uintptr(addr), 0, 0)
	return err == 0 && int(n) == len(p)
}
