package watch

import (
	"os"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
)

// libraryFinder looks for Go libraries in programs that are not Go's: at all files of
// a process when it is new or has loaded another, and then ever less often. A file is
// looked at once. The zero value is ready.
type libraryFinder struct {
	mapper procfs.Mapper
	made   map[file]bool // files that a Go linker made, or did not
	seen   map[int]*loaded
}

// loaded is what a process had loaded when it was looked at last.
type loaded struct {
	program file // another one, and all is looked at anew
	starts  []uint64
	hasGo   bool
	looks   int
	next    time.Time
}

// A process without a Go library is looked at again when as much time has passed as
// before the last look, between these.
const (
	lookAgainFirst = 250 * time.Millisecond
	lookAgainLast  = 8 * time.Second
)

// hasGo says whether a process, which runs a program, has a library built by Go.
func (f *libraryFinder) hasGo(root string, pid int, program file, now time.Time) bool {
	l := f.seen[pid]
	if l == nil || l.program != program {
		if f.seen == nil {
			f.seen, f.made = map[int]*loaded{}, map[file]bool{}
		}
		l = &loaded{program: program}
		f.seen[pid] = l
	}
	if l.hasGo || now.Before(l.next) {
		return l.hasGo
	}
	l.next = now.Add(min(lookAgainFirst<<min(l.looks, 10), lookAgainLast))
	l.looks++
	libraries, err := f.mapper.Libraries(root, pid)
	if err != nil || slices.Equal(startsOf(libraries), l.starts) {
		return false
	}
	l.starts = startsOf(libraries)
	l.hasGo = slices.ContainsFunc(libraries, func(at procfs.Mapping) bool { return f.isGo(root, pid, at) })
	return l.hasGo
}

// isGo says whether a mapped file is a library built by Go.
func (f *libraryFinder) isGo(root string, pid int, at procfs.Mapping) bool {
	if !f.madeByGo(root, pid, at) {
		return false
	}
	mem, err := procfs.OpenMemory(root, pid)
	if err != nil {
		return false
	}
	defer mem.Close()
	bin := goLibrary(root, pid, at, mem)
	if bin == nil {
		return false
	}
	bin.Close()
	return true
}

// madeByGo says whether a Go linker made a mapped file.
func (f *libraryFinder) madeByGo(root string, pid int, at procfs.Mapping) bool {
	for _, path := range procfs.LibraryPaths(root, pid, at) {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		id := fileOf(info)
		made, known := f.made[id]
		if !known {
			made = gobin.IsGo(path)
			f.made[id] = made
		}
		return made
	}
	return false
}

// forgetGone forgets all processes but those that there are, in ascending order.
func (f *libraryFinder) forgetGone(pids []int) {
	for pid := range f.seen {
		if _, there := slices.BinarySearch(pids, pid); !there {
			delete(f.seen, pid)
		}
	}
}
