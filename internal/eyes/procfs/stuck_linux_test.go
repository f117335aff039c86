package procfs

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// neverThere is a page of this process that does not come until come is called.
func neverThere(t *testing.T) (addr int64, come func()) {
	t.Helper()
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|unix.O_NONBLOCK, 0, 0)
	if errno != 0 {
		t.Skipf("SKIP-REASON: needs userfaultfd(2): %v", errno)
	}
	t.Cleanup(func() { unix.Close(int(fd)) })
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	start := uint64(uintptr(unsafe.Pointer(&page[0])))
	ioctl := func(request uintptr, arg unsafe.Pointer) {
		t.Helper()
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, request, uintptr(arg)); errno != 0 {
			t.Fatal(errno)
		}
	}
	// include/uapi/linux/userfaultfd.h: UFFDIO_API, UFFDIO_REGISTER, UFFDIO_ZEROPAGE
	ioctl(0xc018aa3f, unsafe.Pointer(&[3]uint64{0xaa}))
	ioctl(0xc020aa00, unsafe.Pointer(&[4]uint64{start, uint64(len(page)), 1}))
	return int64(start), func() {
		t.Helper()
		ioctl(0xc020aa04, unsafe.Pointer(&[4]uint64{start, uint64(len(page))}))
	}
}

func TestAPageThatNeverComesStopsNobody(t *testing.T) {
	m, err := OpenMemory("/proc", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	known := bytes.Repeat([]byte("known"), 10000)
	at := int64(uintptr(unsafe.Pointer(&known[0])))
	piece := func(addr int64) [][2]uint64 { return [][2]uint64{{uint64(addr), uint64(addr) + 64}} }
	for name, read := range map[string]func(addr int64) error{
		// A word is read through the file, and of that the kernel says EIO at once
		// (mm/gup.c, get_user_page_vma_remote): not so where the page is FUSE's.
		"at once":   func(addr int64) error { _, err := m.ReadAt(make([]byte, os.Getpagesize()), addr); return err },
		"in pieces": func(addr int64) error { return m.ReadPieces(make([]byte, 64), piece(addr)) },
	} {
		t.Run(name, func(t *testing.T) {
			addr, come := neverThere(t)
			if err := read(addr); !errors.Is(err, ErrStuck) {
				t.Fatalf("a page that does not come: %v, want %v", err, ErrStuck)
			}
			runtime.GC() // which waits for whoever keeps a processor
			if err := read(at); !errors.Is(err, ErrStuck) {
				t.Errorf("while a read hangs: %v, want %v", err, ErrStuck)
			}
			come()
			for range 1000 {
				if err = read(at); !errors.Is(err, ErrStuck) {
					break
				}
				unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil) // the kernel wakes the read
			}
			if err != nil {
				t.Errorf("once the page has come: %v", err)
			}
		})
	}
	got := make([]byte, len(known))
	for _, n := range []int{5, bounceUpTo, bounceUpTo + 1, len(known)} {
		if _, err := m.ReadAt(got[:n], at); err != nil || !bytes.Equal(got[:n], known[:n]) {
			t.Errorf("%d bytes: %v, or not what is there", n, err)
		}
	}
	runtime.KeepAlive(known)
}

func TestACallThatHangsIsGivenUp(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	if _, err := patiently(func() (int, error) { <-never; return 1, nil }); !errors.Is(err, ErrStuck) {
		t.Errorf("%v, want %v", err, ErrStuck)
	}
	if n, err := patiently(func() (int, error) { return 1, nil }); n != 1 || err != nil {
		t.Errorf("what returns: %d, %v", n, err)
	}
}
