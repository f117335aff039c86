package malloc

import (
	"os"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// mappingTries is how often a process is read again that made an arena meanwhile.
const mappingTries = 3

// OfProcess reads the allocator of a process, or of what a thread of it sees. The Mapper's
// buffers are used.
func OfProcess(m *procfs.Mapper, mem *procfs.Memory, root string, tid int, until time.Time) (*sample.Malloc, error) {
	exe, err := procfs.Exe(root, tid)
	if err != nil {
		return nil, err
	}
	pages, err := procfs.OpenPagemap(root, tid)
	if err != nil {
		return nil, err
	}
	defer pages.Close()
	p := Process{Memory: mem, Page: uint64(os.Getpagesize()), Exe: exe, Present: presentIn(pages)}
	for try := 1; ; try++ {
		if p.Mappings, err = mappingsOf(m, root, tid); err != nil {
			return nil, err
		}
		out, stale, err := read(p, after(until))
		if !stale || try == mappingTries || time.Now().After(until) {
			return out, err
		}
	}
}

// HasLibrary says whether a process has mapped a library that is a C allocator, or the C
// library. Of a program without code of C nothing else can be one.
func HasLibrary(files []procfs.MappedFile) bool {
	for i := range files {
		if libraryOf(files[i].Path) >= 0 {
			return true
		}
	}
	return false
}

func mappingsOf(m *procfs.Mapper, root string, tid int) ([]Mapping, error) {
	list, err := m.Maps(root, tid)
	out := make([]Mapping, len(list))
	for i := range list {
		at := &list[i]
		out[i] = Mapping{Start: at.Start, End: at.End, Writable: at.Writable() && at.Perms[0] == 'r', File: at.FileBacked(), Path: at.Path}
	}
	return out, err
}

// presentIn says which pages a page map has in memory.
func presentIn(pages *procfs.Pagemap) func([]bool, uint64, uint64) ([]bool, error) {
	var piece []procfs.Page
	return func(dst []bool, start, end uint64) (_ []bool, err error) {
		piece, err = pages.Pages(piece[:0], start, end)
		for _, page := range piece {
			dst = append(dst, page.Present())
		}
		return dst, err
	}
}
