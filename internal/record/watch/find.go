package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
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

	births procfs.Births
	known  map[int]known
	swept  time.Time     // when all processes were looked at
	took   time.Duration // and how long that took
	before []int         // what was found last, in full
	found  []int         // and without what is below another
	same   bool          // it was the same as before that
}

// known is what a process was when it was looked at last.
type known struct {
	since   time.Time // when it was first seen
	grown   bool      // it was looked at when it was no longer young
	matches bool
}

// A process is looked at again while it is young, as it may be about to exec, and once after that, however long
// after: looks are seconds apart where a machine is busy. Then it is looked at with
// all others each sweepEvery, for at most one in sweepShare of the time. On a busy machine
// a sweep takes long without working much: what became a Go program late, by an exec that
// was not seen, is found within sweepWithin all the same.
const (
	young       = 2 * time.Second
	sweepEvery  = 2 * time.Second
	sweepShare  = 500
	sweepWithin = 20 * time.Second
)

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
	now := time.Now()
	sweep := now.Sub(f.swept) >= sweepAfter(f.took)
	if f.births.Root = f.Root; !f.births.Any() && !sweep && !f.anyYoung() {
		f.same = true
		return f.found, nil
	}
	pids, err := procfs.Processes(f.Root)
	if err != nil {
		return nil, err
	}
	f.libraries.forgetGone(pids)
	all := f.matching(pids, now, sweep)
	if sweep {
		f.swept, f.took = now, time.Since(now)
	}
	if f.same = slices.Equal(all, f.before); f.same && !sweep {
		return f.found, nil
	}
	found := all
	if !f.AllGo { // a container engine is a Go program, and everything is below it
		found = slices.DeleteFunc(slices.Clone(all), func(pid int) bool { return f.isBelow(pid, all) })
	}
	f.same = slices.Equal(found, f.found)
	f.before, f.found = all, found
	return found, nil
}

// sweepAfter is how long after a sweep that took so long the next one is due.
func sweepAfter(took time.Duration) time.Duration {
	return min(max(sweepEvery, sweepShare*took), sweepWithin)
}

// Same says whether Find found what it had found before that.
func (f *Finder) Same() bool { return f.same }

// anyYoung says whether a process that does not match was so young at its last look that it may have been about to exec.
func (f *Finder) anyYoung() bool {
	for _, k := range f.known {
		if !k.matches && !k.grown {
			return true
		}
	}
	return false
}

// matching looks at those of the processes that may have changed.
func (f *Finder) matching(pids []int, now time.Time, sweep bool) (found []int) {
	next := make(map[int]known, len(pids))
	for _, pid := range pids {
		if pid == os.Getpid() {
			continue
		}
		k, seen := f.known[pid]
		if !seen {
			k.since = now
		}
		if !k.grown || sweep {
			k.matches, k.grown = f.matches(pid), now.Sub(k.since) >= young
		}
		if next[pid] = k; k.matches {
			found = append(found, pid)
		}
	}
	f.known = next
	return found
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
		if errors.Is(why, fs.ErrNotExist) || procfs.IsShortage(why) {
			return false // the process has ended, or we ran short, which says nothing of its file
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
