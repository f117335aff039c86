package procfs

import "golang.org/x/sys/unix"

// readDirect reads all of p by process_vm_readv(2), or says no: then the file
// knows more. It serves a process whose first thread has ended no longer.
func readDirect(pid int, p []byte, addr int64) bool {
	local := [1]unix.Iovec{{Base: &p[0]}}
	local[0].SetLen(len(p))
	n, err := unix.ProcessVMReadv(pid, local[:], []unix.RemoteIovec{{Base: uintptr(addr), Len: len(p)}}, 0)
	return err == nil && n == len(p)
}
