package filepages

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Owners tells which memory cgroup is charged for a page that is in our address space: where it lies, from
// /proc/self/pagemap, and whose that is, from /proc/kpagecgroup, the inode of the cgroup's directory; of a page of
// a larger one the first alone is asked, which /proc/kpageflags tells (Documentation/admin-guide/mm/pagemap.rst). All
// are told to who had CAP_SYS_ADMIN when they were opened.
type Owners struct {
	pagemap, cgroups, flags *os.File
}

// OpenOwners opens them. The caller closes it.
func OpenOwners(root string) (*Owners, error) {
	o := &Owners{}
	var err error
	if o.pagemap, err = os.Open(filepath.Join(root, "self", "pagemap")); err == nil {
		if o.cgroups, err = os.Open(filepath.Join(root, "kpagecgroup")); err == nil {
			if o.flags, err = os.Open(filepath.Join(root, "kpageflags")); err == nil {
				err = o.try()
			}
		}
	}
	if err != nil {
		o.Close()
		return nil, fmt.Errorf("whose pages of files are: %w", err)
	}
	return o, nil
}

// try looks at a page of ours: without the right the kernel says that all pages lie at 0.
func (o *Owners) try() error {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Munmap(page) }()
	page[0] = 1
	if _, ok := o.ownerOf(uintptr(unsafe.Pointer(&page[0]))); !ok {
		return fs.ErrPermission
	}
	return nil
}

// Close closes them; of nil it does nothing.
func (o *Owners) Close() error {
	if o == nil {
		return nil
	}
	for _, f := range []*os.File{o.pagemap, o.cgroups, o.flags} {
		if f != nil {
			f.Close()
		}
	}
	return nil
}

// ownerOf is the inode of the cgroup that is charged for the page at an address of ours; 0: none is.
func (o *Owners) ownerOf(at uintptr) (inode uint64, ok bool) {
	const present, frame = 1 << 63, 1<<55 - 1
	entry, ok := number(o.pagemap, uint64(at)/uint64(os.Getpagesize()))
	if !ok || entry&present == 0 || entry&frame == 0 {
		return 0, false
	}
	return number(o.cgroups, o.head(entry&frame))
}

// head is the first of the pages that a page is one of: they are allocated together, in a power of two.
func (o *Owners) head(frame uint64) uint64 {
	const isHead, isTail = 1 << 15, 1 << 16 // KPF_COMPOUND_HEAD, KPF_COMPOUND_TAIL
	flags, ok := number(o.flags, frame)
	for order := 1; ok && flags&isTail != 0 && order <= 18; order++ {
		first := frame &^ (1<<order - 1)
		if flags, ok := number(o.flags, first); ok && flags&isHead != 0 {
			return first
		}
	}
	return frame
}

// number is one of a file of numbers.
func number(f *os.File, i uint64) (uint64, bool) {
	var word [8]byte
	_, err := f.ReadAt(word[:], int64(i)*8)
	return binary.NativeEndian.Uint64(word[:]), err == nil
}

// maxGroups bounds the cgroups below that of the programs.
const maxGroups = 1000

// of gives a function that says how many bytes of pages a cgroup is charged for, nil where that cannot be
// told. It looks at no more than mostAsked pages of a file, or twice as many.
func (o *Owners) of(dir string) func(pages) (sample.Bytes, bool) {
	if o == nil || dir == "" {
		return nil
	}
	ours := map[uint64]bool{}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what cannot be read is not ours
		if err != nil || !d.IsDir() {
			return nil
		}
		if len(ours) == maxGroups {
			return fs.SkipAll
		}
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil {
			ours[st.Ino] = true
		}
		return nil
	})
	if len(ours) == 0 {
		return nil
	}
	return func(p pages) (sample.Bytes, bool) { return o.charged(p, ours) }
}

// How many pages of a file are asked whose they are: one of so many, within these bounds. A file is as a rule
// charged to one cgroup as a whole; of one that is not, one standard error of a half is 4 % with the most.
const askedOf, leastAsked, mostAsked = 400, 8, 128

// charged estimates the bytes of pages that some cgroups are charged for. Only pages are touched that are there,
// and by madvise(2), which fails where a read would be the end of us (MADV_POPULATE_READ, Linux 5.14).
func (o *Owners) charged(p pages, ours map[uint64]bool) (sample.Bytes, bool) {
	size := os.Getpagesize()
	if unix.Madvise(p.memory, unix.MADV_RANDOM) != nil { // nothing is to be read ahead
		return 0, false
	}
	there := 0
	for _, b := range p.vector {
		there += int(b & 1)
	}
	step := max(1, there/min(max(there/askedOf, leastAsked), mostAsked))
	asked, own, met := 0, 0, 0
	for i, b := range p.vector {
		if b&1 == 0 {
			continue
		}
		if met++; met%step != 0 {
			continue
		}
		at := p.memory[i*size : min(len(p.memory), (i+1)*size)]
		if unix.Madvise(at, unix.MADV_POPULATE_READ) != nil {
			continue
		}
		if owner, ok := o.ownerOf(uintptr(unsafe.Pointer(&at[0]))); ok {
			asked++
			if ours[owner] {
				own++
			}
		}
	}
	if asked == 0 {
		return 0, false
	}
	return sample.Bytes(there) * sample.Bytes(size) * sample.Bytes(own) / sample.Bytes(asked), true
}
