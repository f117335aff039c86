package procfs

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// quietUpTo is the size up to which a read takes some microseconds, and Go's
// scheduler is not told of it (see pread). To tell it wakes its watchman, sysmon:
// at ten readings a second that was an eighth of what a watch cost.
const quietUpTo = 16 << 10

// readDirect reads all of p by process_vm_readv(2), or says no: then the file
// knows more. It serves a process whose first thread has ended no longer.
func readDirect(pid int, p []byte, addr int64) bool {
	remote := [1]unix.RemoteIovec{{Base: uintptr(addr), Len: len(p)}}
	return readRemote(pid, p, remote[:])
}

// readRemote fills p from pieces of another process's memory by one call.
func readRemote(pid int, p []byte, remote []unix.RemoteIovec) bool {
	local := [1]unix.Iovec{{Base: &p[0]}}
	local[0].SetLen(len(p))
	if len(p) > quietUpTo {
		n, err := unix.ProcessVMReadv(pid, local[:], remote, 0)
		return err == nil && n == len(p)
	}
	n, _, err := syscall.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(pid),
		uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(unsafe.SliceData(remote))), uintptr(len(remote)), 0)
	return err == 0 && int(n) == len(p)
}

// readSmall reads a piece of memory through its file: a few microseconds, so
// Go's scheduler is not told (see pread). It says no where not all is there.
func readSmall(f *os.File, p []byte, addr int64) bool {
	n, _, err := unix.RawSyscall6(unix.SYS_PREAD64, f.Fd(), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), uintptr(addr), 0, 0)
	return err == 0 && int(n) == len(p)
}
