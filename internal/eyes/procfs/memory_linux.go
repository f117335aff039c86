package procfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// Every call on memory of another process tells Go's scheduler that it may wait: a page
// that never comes would otherwise keep the scheduler's processor, with one of which all
// of a watch stops, and with more its next collection of garbage.

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
	n, err := unix.ProcessVMReadv(pid, local[:], remote, 0)
	return err == nil && n == len(p)
}

// writeDirect writes all of p by process_vm_writev(2).
func writeDirect(pid int, p []byte, addr int64) error {
	local := [1]unix.Iovec{{Base: &p[0]}}
	local[0].SetLen(len(p))
	n, err := unix.ProcessVMWritev(pid, local[:], []unix.RemoteIovec{{Base: uintptr(addr), Len: len(p)}}, 0)
	if err == nil && n != len(p) {
		err = unix.EFAULT
	}
	return err
}

// readSmall reads a piece of memory through its file, by one call. It says no where
// not all is there.
func readSmall(f *os.File, p []byte, addr int64) bool {
	n, err := unix.Pread(int(f.Fd()), p, addr)
	return err == nil && n == len(p)
}
