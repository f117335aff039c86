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

// isLeaf reports whether the directory has none below it, which its number of links tells (two, and one of each). Linux
// with 64 bits alone has this call for unix.Stat_t.
func (dir fd) isLeaf() bool {
	var st unix.Stat_t
	_, _, errno := unix.RawSyscall(unix.SYS_FSTAT, uintptr(dir), uintptr(unsafe.Pointer(&st)), 0)
	return errno == 0 && st.Nlink == 2
}

// list reads a list of a directory's: the kernel gives a page of it at a time. Like
// read it does not tell Go's scheduler.
func (dir fd) list(name string) (b []byte, err error) {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return nil, err
	}
	f, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(path)), unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return nil, errno
	}
	defer unix.RawSyscall(unix.SYS_CLOSE, f, 0, 0)
	for {
		b = slices.Grow(b, 512)
		n, _, errno := unix.RawSyscall(unix.SYS_READ, f, uintptr(unsafe.Pointer(unsafe.SliceData(b[len(b):cap(b)]))), uintptr(cap(b)-len(b)))
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return nil, errno
		case n == 0:
			return b, nil
		default:
			b = b[:len(b)+int(n)]
		}
	}
}

func (f fd) close() {
	if f != noFD {
		unix.Close(int(f))
	}
}
