package filepages

import (
	"errors"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// count adds a file with what of it is in memory. fd is the process's own descriptor of it, -1: there is none.
func (l *looking) count(p *Process, h *handle, f sample.FilePages, fd int) {
	f.Kind, f.Size = h.kind, sample.Bytes(max(0, h.stat.Size))
	if h.stat.Nlink == 0 {
		f.Path, f.Deleted = strings.TrimSuffix(f.Path, " (deleted)"), true
	}
	if f = named(f); l.knows(h.id()) {
		l.add(h.id(), f)
		return
	}
	if f.Kind.IsShmem() {
		// What is swapped out counts, too (mm/shmem.c, shmem_recalc_inode).
		f.Resident = sample.Bytes(max(0, h.stat.Blocks)) * 512
		if f.Resident > 0 {
			l.own(h, -1, &f)
			l.add(h.id(), f)
		}
		return
	}
	if f.Size == 0 {
		return
	}
	if l.countCached(p, h, &f, fd); f.Resident > 0 {
		l.add(h.id(), f)
	}
}

// countCached counts the pages of a file on a disk. One that may not be opened has those that are mapped.
func (l *looking) countCached(p *Process, h *handle, f *sample.FilePages, fd int) {
	got, err := l.reopen(p, h, fd)
	if err == nil {
		defer unix.Close(got)
		if err = l.cached(got, h, f); err == nil {
			l.own(h, got, f)
			f.Resident = max(f.Resident, f.Mapped)
			return
		}
	}
	f.Resident, f.Partial = f.Mapped, true
	if f.Mapped == 0 {
		l.fail(reasonOf(err))
	}
}

// reopen opens a file for real: the process's own descriptor, which nobody learns of and which keeps its right to
// write, else anew for reading.
func (l *looking) reopen(p *Process, h *handle, fd int) (int, error) {
	if fd >= 0 {
		if got, err := l.duplicate(p, h, fd); err == nil {
			return got, nil
		}
	}
	if l.noLeases || l.leases[h.id()] {
		return -1, errors.New(whyLease)
	}
	return unix.Open(h.at(), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
}

// duplicate takes a copy of the process's descriptor (pidfd_getfd(2), Linux 5.6). Its place in the file is the
// program's: it is never moved.
func (l *looking) duplicate(p *Process, h *handle, fd int) (int, error) {
	pidfd, err := unix.PidfdOpen(p.Key.PID, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(pidfd)
	got, err := unix.PidfdGetfd(pidfd, fd, 0)
	if err != nil {
		return -1, err
	}
	// The program may have put another file there. To close one of FUSE may wait, as closing asks it.
	mount, err := l.mountOf(got)
	if err != nil || l.mounts[mount] == nil {
		go unix.Close(got)
		return -1, errForeign
	}
	var now unix.Stat_t
	if unix.Fstat(got, &now) != nil || (id{uint64(now.Dev), now.Ino}) != h.id() {
		unix.Close(got)
		return -1, errNot
	}
	return got, nil
}

// firstWindow is how much of a file is asked for at once; each later part is twice as large, so that the kernel is
// soon through the largest file, and the time is looked at between them.
const firstWindow = 1 << 30

// cached fills in what of a file is in page cache: by cachestat(2), of Linux 6.5 and newer, else by mincore(2).
func (l *looking) cached(fd int, h *handle, f *sample.FilePages) error {
	page := sample.Bytes(os.Getpagesize())
	var dirty, writeback sample.Bytes
	window := uint64(firstWindow)
	for off := uint64(0); off < uint64(h.stat.Size); off += window / 2 {
		if l.isOver() {
			return errors.New(whyTime)
		}
		n := min(window, uint64(h.stat.Size)-off)
		var got unix.Cachestat_t
		err := unix.Cachestat(uint(fd), &unix.CachestatRange{Off: off, Len: n}, &got, 0)
		if errors.Is(err, unix.ENOSYS) {
			return l.counted(fd, h, f)
		}
		if err != nil {
			return err
		}
		f.Resident += sample.Bytes(got.Cache) * page
		dirty += sample.Bytes(got.Dirty) * page
		writeback += sample.Bytes(got.Writeback) * page
		window *= 2
	}
	f.Dirty, f.Writeback = sample.Some(dirty), sample.Some(writeback)
	return nil
}

// maxCounted bounds what is looked at of a file by mincore(2), which has no shorter way over holes.
const maxCounted = 64 << 30

// counted counts pages by mincore(2). To who may not write to a file, and does not own it, the kernel says that
// all of it is there (mm/mincore.c, can_do_mincore).
func (l *looking) counted(fd int, h *handle, f *sample.FilePages) error {
	if !mayCount(h) {
		return unix.EPERM
	}
	page := uint64(os.Getpagesize())
	for off := uint64(0); off < min(uint64(h.stat.Size), maxCounted); off += firstWindow {
		if l.isOver() {
			return errors.New(whyTime)
		}
		there, unmap, err := mapPages(fd, off, min(firstWindow, uint64(h.stat.Size)-off))
		if err != nil {
			return err
		}
		for _, b := range there.vector {
			f.Resident += sample.Bytes(b&1) * sample.Bytes(page)
		}
		unmap()
	}
	return nil
}

// mayCount says whether the kernel tells us the truth about which pages of a file are there.
func mayCount(h *handle) bool {
	return int(h.stat.Uid) == os.Geteuid() || unix.Faccessat(unix.AT_FDCWD, h.at(), unix.W_OK, unix.AT_EACCESS) == nil
}

// pages is a part of a file in our address space, never touched but where a page is there.
type pages struct {
	memory []byte
	vector []byte // of mincore(2): bit 0 says that a page is there
}

// mapPages maps a part of a file and asks which of its pages are there.
func mapPages(fd int, off, n uint64) (p pages, unmap func(), err error) {
	page := uint64(os.Getpagesize())
	if p.memory, err = unix.Mmap(fd, int64(off), int(n), unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return p, nil, err
	}
	unmap = func() { _ = unix.Munmap(p.memory) } // of a mapping that is there
	p.vector = make([]byte, (n+page-1)/page)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&p.memory[0])), uintptr(len(p.memory)), uintptr(unsafe.Pointer(&p.vector[0])))
	if errno != 0 {
		unmap()
		return p, nil, errno
	}
	return p, unmap, nil
}

// own fills in the part of a file that the programs' cgroup is charged for. fd is of the file, -1: it is not open
// yet.
func (l *looking) own(h *handle, fd int, f *sample.FilePages) {
	if l.charge == nil || f.Resident < leastOwned || h.stat.Size == 0 || !mayCount(h) || l.isOver() {
		return
	}
	if fd < 0 {
		if l.noLeases || l.leases[h.id()] {
			return
		}
		got, err := unix.Open(h.at(), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if err != nil {
			return
		}
		defer unix.Close(got)
		fd = got
	}
	there, unmap, err := mapPages(fd, 0, min(maxOwned, uint64(h.stat.Size)))
	if err != nil {
		return
	}
	defer unmap()
	if charged, ok := l.charge(there); ok {
		share := float64(charged) / float64(max(1, there.resident()))
		f.Charged = sample.Some(sample.Bytes(min(1, share) * float64(f.Resident)))
	}
}

// resident are the bytes of the pages that are there.
func (p *pages) resident() (n sample.Bytes) {
	for _, b := range p.vector {
		n += sample.Bytes(b & 1)
	}
	return n * sample.Bytes(os.Getpagesize())
}

// Which files are asked whose they are, and how much of each.
const (
	leastOwned = 64 * sample.KiB
	maxOwned   = 4 << 30
)
