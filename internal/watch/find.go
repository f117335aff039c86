package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/highwater-go/highwater/internal/gobin"
	"github.com/highwater-go/highwater/internal/procfs"
	"github.com/highwater-go/highwater/internal/sample"
)

// Finder looks for programs by what they are. It is used again and again, and
// looks at an executable only once.
type Finder struct {
	Root  string   // of /proc; "" is /proc
	Names []string // of the executable, or as the kernel cuts it to 15 bytes
	AllGo bool     // every Go program, and every other that has loaded a Go library

	goFiles   map[file]error // why an executable is no Go program; nil: it is one
	hidden    map[sample.ProcessKey]bool
	libraries libraryFinder
}

// file is a file as long as it is not changed.
type file struct {
	dev, inode uint64
	changed    time.Time
}

// Find gives the processes that match, in ascending order; of those found by
// name none that was started by another, to which it belongs. Our own is never
// among them.
func (f *Finder) Find() ([]int, error) {
	if f.Root == "" {
		f.Root = "/proc"
	}
	pids, err := procfs.Processes(f.Root)
	if err != nil {
		return nil, err
	}
	f.libraries.forgetGone(pids)
	var found []int
	for _, pid := range pids {
		if pid != os.Getpid() && f.matches(pid) {
			found = append(found, pid)
		}
	}
	if f.AllGo {
		return found, nil // a container engine is a Go program, and everything is below it
	}
	return slices.DeleteFunc(slices.Clone(found), func(pid int) bool { return f.isBelow(pid, found) }), nil
}

// Hidden is how many processes could not be told to be Go programs or not, as
// they are another user's.
func (f *Finder) Hidden() int { return len(f.hidden) }

func (f *Finder) matches(pid int) bool {
	if st, err := procfs.StateOf(f.Root, pid); err != nil || st.Ended() {
		return false
	}
	if f.AllGo {
		return f.isGo(pid)
	}
	comm, _ := procfs.Comm(f.Root, pid)
	exe, _ := procfs.Exe(f.Root, pid)
	return slices.ContainsFunc(f.Names, func(name string) bool { return isNamed(name, comm, filepath.Base(exe)) })
}

// commSize is how much of a name the kernel keeps (TASK_COMM_LEN, less the 0 at
// its end).
const commSize = 15

func isNamed(name, comm, exe string) bool {
	return name == exe || name[:min(len(name), commSize)] == comm && (len(name) <= commSize || exe == "." || exe == "")
}

// isGo says whether a process has a Go runtime that may be read.
func (f *Finder) isGo(pid int) bool {
	exe := filepath.Join(f.Root, strconv.Itoa(pid), "exe")
	info, err := os.Stat(exe)
	if errors.Is(err, fs.ErrPermission) {
		f.hide(pid)
	}
	if err != nil {
		return false
	}
	id := fileOf(info)
	why, ok := f.goFiles[id]
	if !ok {
		var bin *gobin.Binary
		if bin, why = gobin.Open(exe); why == nil {
			bin.Close()
		}
		if f.goFiles == nil {
			f.goFiles = map[file]error{}
		}
		f.goFiles[id] = why
	}
	return why == nil || errors.Is(why, gobin.ErrNotGo) && f.libraries.hasGo(f.Root, pid, id, time.Now())
}

func (f *Finder) hide(pid int) {
	if f.hidden == nil {
		f.hidden = map[sample.ProcessKey]bool{}
	}
	if key, err := procfs.KeyOf(f.Root, pid); err == nil {
		f.hidden[key] = true
	}
}

// isBelow says whether a process has one of those above it.
func (f *Finder) isBelow(pid int, found []int) bool {
	const deepest = 64
	for range deepest {
		parent, err := procfs.Parent(f.Root, pid)
		if err != nil || parent == 0 {
			return false
		}
		if _, ok := slices.BinarySearch(found, parent); ok {
			return true
		}
		pid = parent
	}
	return false
}
