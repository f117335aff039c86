package filepages

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/sample"
)

// Owners tells which memory cgroup is charged for a page that is in our address space: where it lies, from
// /proc/self/pagemap, and whose that is, from /proc/kpagecgroup, the inode of the cgroup's directory
// (Documentation/admin-guide/mm/pagemap.rst). Both are told to who had CAP_SYS_ADMIN when they were opened.
type Owners struct {
	pagemap, cgroups *os.File
}

// OpenOwners opens both. The caller closes it.
func OpenOwners(root string) (*Owners, error) {
	o := &Owners{}
	var err error
	if o.pagemap, err = os.Open(filepath.Join(root, "self", "pagemap")); err == nil {
		if o.cgroups, err = os.Open(filepath.Join(root, "kpagecgroup")); err == nil {
			err = o.try()
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

// Close closes them.
func (o *Owners) Close() error {
	for _, f := range []*os.File{o.pagemap, o.cgroups} {
		if f != nil {
			f.Close()
		}
	}
	return nil
}

// ownerOf is the inode of the cgroup that is charged for the page at an address of ours; 0: none is.
func (o *Owners) ownerOf(at uintptr) (inode uint64, ok bool) {
	const present, frame = 1 << 63, 1<<55 - 1
	var word [8]byte
	if _, err := o.pagemap.ReadAt(word[:], int64(at)/int64(os.Getpagesize())*8); err != nil {
		return 0, false
	}
	entry := binary.NativeEndian.Uint64(word[:])
	if entry&present == 0 || entry&frame == 0 {
		return 0, false
	}
	if _, err := o.cgroups.ReadAt(word[:], int64(entry&frame)*8); err != nil {
		return 0, false
	}
	return binary.NativeEndian.Uint64(word[:]), true
}

// maxGroups bounds the cgroups below that of the programs.
const maxGroups = 1000

// of gives a function that says how many bytes of pages a cgroup is charged for, nil where that cannot be
// told. It looks at no more than ownersAsked pages of a file.
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

// ownersAsked is how many pages of a file are asked whose they are: one standard error of a share is 3 % then.
const ownersAsked = 256

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
	step := max(1, there/ownersAsked)
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
