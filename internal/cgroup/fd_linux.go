package cgroup

import (
	"io/fs"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fd is an open file of the kernel's. It is no os.File: that one enters the
// files of a cgroup, which can be polled, into the runtime's poller.
type fd int

const noFD fd = -1

func openFD(path string) (fd, error) {
	n, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return noFD, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd(n), nil
}

// read reads the file from its start into buf: one call gives a consistent
// state of a file that fits. It takes microseconds and does not wait, so Go's
// scheduler is not told of it (see procfs's pread).
func (f fd) read(buf []byte) ([]byte, error) {
	if f == noFD {
		return nil, fs.ErrNotExist
	}
	for {
		n, _, err := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(f), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)), 0, 0, 0)
		switch {
		case err == 0 && int(n) == len(buf):
			return nil, errMalformed // the end may be missing
		case err == 0:
			return buf[:n], nil
		case err == unix.ENODEV:
			return nil, ErrGone
		case err != unix.EINTR:
			return nil, err
		}
	}
}

// readAll reads a list, of which the kernel gives a page at a time.
func (f fd) readAll() (b []byte, err error) {
	for {
		b = slices.Grow(b, 512)
		n, err := unix.Pread(int(f), b[len(b):cap(b)], int64(len(b)))
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return b, err
		}
		b = b[:len(b)+n]
	}
}

func (f fd) close() {
	if f != noFD {
		unix.Close(int(f))
	}
}
