// Package filepages finds the files whose pages the kernel counts as memory of some programs: what of page
// cache and of tmpfs is whose. It looks at what the programs have open or mapped, in their tmpfs mounts, and in
// the directories that they work in, within a time.
//
// The files are strangers'. Nothing of them is read. One is opened only where this kernel answers for it itself,
// and by a handle that was looked at before: no pipe, device, FUSE or network's file is ever opened, nor one
// whose opening somebody is to be told of (a lease). It judges nothing.
package filepages

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Process is one whose files are looked at.
type Process struct {
	Key    sample.ProcessKey
	TID    int // a thread of it that lives, or is held
	Mapped []procfs.MappedFile
}

// Request is what is to be looked at.
type Request struct {
	Root      string // of /proc
	Processes []Process
	// PageCache and Shmem are what the programs' cgroup is charged: directories are searched while what was
	// found is much less.
	PageCache, Shmem sample.Bytes
	// Cgroup is the directory of the programs' memory cgroup, "" where that is not known.
	Cgroup string
	Until  time.Time // when it must have ended
}

// Looker looks at files again and again. It remembers directories in which there were some. The zero value
// has no Owners.
type Looker struct {
	// Owners tells which cgroup is charged for a page; nil: that is not known here.
	Owners *Owners

	mu   sync.Mutex
	busy bool       // a look has not returned
	dirs []position // in which files were met before
}

// position is a directory as the process of a thread sees it.
type position struct {
	key  sample.ProcessKey
	path string
}

// Bounds of a look.
const (
	maxFiles       = 50_000    // that are kept while it is taken
	maxDescriptors = 20_000    // that are looked at, of each process
	maxEntries     = 20_000    // of directories
	maxDirs        = 1_000     // that are read in one look
	maxDepth       = 8         // below one that a program works in
	maxRemembered  = 64        // directories
	leastInDir     = 64 * 1024 // bytes of a file on a disk that is worth being opened, where no program has it open
)

// grace is how long after its end a look that hangs is waited for.
const grace = 20 * time.Millisecond

// Look counts the files. What was not finished at r.Until, or hangs, is left out, and the result says so. While
// a look hangs, others say that alone.
func (l *Looker) Look(r Request) *sample.Files {
	began := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy {
		return &sample.Files{Unread: 1, Why: whyHangs}
	}
	w := &work{request: r, owners: l.Owners, dirs: slices.Clone(l.dirs)}
	l.busy = true
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.look()
	}()
	timer := time.NewTimer(time.Until(r.Until) + grace)
	defer timer.Stop()
	select {
	case <-done:
		l.busy = false
		l.dirs = w.dirs
	case <-timer.C:
		go func() {
			<-done
			l.mu.Lock()
			l.busy = false
			l.mu.Unlock()
		}()
		w.fail(whyHangs)
	}
	f := w.result()
	f.Took = time.Since(began)
	return f
}

// Reasons why files were not counted.
const (
	whyHangs   = "a look at a file has not returned"
	whyTime    = "no time was left"
	whyForeign = "they lie on FUSE, a network's file system, or a mount that cannot be seen"
	whyMany    = "there are too many"
	whyLease   = "a program is to be told when they are opened (a lease)"
)

// id is a file's identity.
type id struct{ dev, ino uint64 }

// work is one look. Files are added to it while it goes on, so that what was counted until then is there
// where it hangs.
type work struct {
	request Request
	owners  *Owners
	dirs    []position

	mu     sync.Mutex
	over   bool // the result was taken
	files  []sample.FilePages
	index  map[id]int
	unread int
	why    string
}

// add notes a file, or what more is known of it.
func (w *work) add(of id, f sample.FilePages) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	if i, known := w.index[of]; known {
		w.files[i].Descriptors += f.Descriptors
		w.files[i].Mappings += f.Mappings
		w.files[i].Mapped = max(w.files[i].Mapped, f.Mapped)
		w.files[i].Resident = max(w.files[i].Resident, f.Mapped)
		return
	}
	if len(w.files) == maxFiles {
		w.unread, w.why = w.unread+1, cmp.Or(w.why, whyMany)
		return
	}
	if w.index == nil {
		w.index = map[id]int{}
	}
	w.index[of] = len(w.files)
	w.files = append(w.files, f)
}

// knows says whether a file was counted.
func (w *work) knows(of id) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, known := w.index[of]
	return known
}

// fail notes that a file was not counted.
func (w *work) fail(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unread, w.why = w.unread+1, cmp.Or(w.why, why)
}

// found is what the files that were counted come to, of page cache and of shared memory.
func (w *work) found() (cache, shmem sample.Bytes) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.files {
		if w.files[i].Kind.IsShmem() {
			shmem += w.files[i].Claim()
		} else {
			cache += w.files[i].Claim()
		}
	}
	return cache, shmem
}

// isOver says whether the time is used up.
func (w *work) isOver() bool { return time.Now().After(w.request.Until) }

// result is what was counted, without files that have no page in memory or no charge.
func (w *work) result() *sample.Files {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	out := &sample.Files{Unread: w.unread, Why: w.why}
	list := slices.DeleteFunc(w.files, func(f sample.FilePages) bool { return f.Claim() == 0 })
	slices.SortStableFunc(list, func(a, b sample.FilePages) int { return cmp.Compare(b.Claim(), a.Claim()) })
	out.List = slices.Clone(list[:min(len(list), sample.MaxFiles)])
	for _, f := range list[len(out.List):] {
		if f.Kind.IsShmem() {
			out.OtherShmem, out.OtherShmemBytes = out.OtherShmem+1, out.OtherShmemBytes+f.Claim()
		} else {
			out.OtherCache, out.OtherCacheBytes = out.OtherCache+1, out.OtherCacheBytes+f.Claim()
		}
	}
	return out
}

// enough says whether what was found comes to nine tenths of a charge.
func enough(found, charged sample.Bytes) bool { return found >= charged/10*9 }

// remember keeps a directory in mind.
func (w *work) remember(p position) {
	if slices.Contains(w.dirs, p) {
		return
	}
	if len(w.dirs) == maxRemembered {
		w.dirs = w.dirs[1:]
	}
	w.dirs = append(w.dirs, p)
}
