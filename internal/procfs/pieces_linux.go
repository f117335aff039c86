package procfs

import "golang.org/x/sys/unix"

// maxPieces is how many pieces one process_vm_readv(2) takes (UIO_MAXIOV).
const maxPieces = 1024

// readPieces is ReadPieces by as few calls as possible. It says no where not all is
// there.
func readPieces(pid int, p []byte, pieces [][2]uint64) bool {
	remote := make([]unix.RemoteIovec, 0, min(len(pieces), maxPieces))
	for len(pieces) > 0 {
		n := 0
		remote = remote[:0]
		for _, at := range pieces[:min(len(pieces), maxPieces)] {
			remote = append(remote, unix.RemoteIovec{Base: uintptr(at[0]), Len: int(at[1] - at[0])})
			n += int(at[1] - at[0])
		}
		local := [1]unix.Iovec{{Base: &p[0]}}
		local[0].SetLen(n)
		if got, err := unix.ProcessVMReadv(pid, local[:], remote, 0); err != nil || got != n {
			return false
		}
		p, pieces = p[n:], pieces[len(remote):]
		if len(p) == 0 {
			return len(pieces) == 0
		}
	}
	return true
}
