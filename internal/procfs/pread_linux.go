package procfs

import (
	"os"
	"syscall"
)

// pread reads a small file of /proc from its beginning in one system call.
// os.File.ReadAt would ask a second time to see the end, and the kernel would
// compute the whole file again.
func pread(f *os.File, b []byte) (int, error) {
	for {
		n, err := syscall.Pread(int(f.Fd()), b, 0)
		if err != syscall.EINTR {
			return n, err
		}
	}
}
