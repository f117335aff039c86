package procfs

import (
	"os"
	"syscall"
	"unsafe"
)

// pread reads a small file of /proc from its beginning in one system call.
// os.File.ReadAt would ask a second time to see the end, and the kernel would
// compute the whole file again.
//
// The call does not tell Go's scheduler, which is for calls that may wait: this
// one takes microseconds, and with one processor the scheduler would hand that
// over to another thread at each. That was a third of what a watch cost.
func pread(f *os.File, b []byte) (int, error) {
	for {
		n, _, err := syscall.RawSyscall6(syscall.SYS_PREAD64, f.Fd(), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
		switch err {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, err
		}
	}
}

// open opens a file to be read by pread. os.Open enters those of /proc that can be
// polled into the runtime's poller, and pread would then undo that at each call.
func open(path string) (*os.File, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
