package filepages

import (
	"cmp"
	"os"
	"path"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// directories looks for files that no program has open any more: in tmpfs where shared memory is not
// explained, and where the programs work where page cache is not.
func (l *looking) directories() {
	cache, shmem := l.found()
	if !enough(shmem, l.request.Shmem) {
		for i := range l.request.Processes {
			l.tmpfsOf(&l.request.Processes[i])
		}
	}
	if enough(cache, l.request.PageCache) {
		return
	}
	for _, p := range slices.Backward(slices.Clone(l.dirs)) {
		at := slices.IndexFunc(l.request.Processes, func(one Process) bool { return one.Key == p.key })
		if at < 0 {
			at = 0 // it has ended: whoever is left has the same directories, as a rule
		}
		if len(l.request.Processes) > 0 {
			l.walk(&l.request.Processes[at], p.path)
		}
	}
}

// tmpfsOf walks the tmpfs mounts that a process sees and may write to, the device nodes' one left out.
func (l *looking) tmpfsOf(p *Process) {
	for _, m := range l.seen[p.TID] {
		if m.Kind == "tmpfs" && !m.ReadOnly && l.mounts[m.ID] != nil {
			l.walk(p, m.Point)
		}
	}
}

// walk counts the regular files of a directory and of those below it, on the same mount, those that were written
// last first. No process has them open, or that was met before.
func (l *looking) walk(p *Process, dir string) {
	type level struct {
		path  string
		depth int
	}
	todo := []level{{dir, 0}}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if l.read++; l.read > maxDirs || l.isOver() {
			l.fail(whyTime)
			return
		}
		below := l.list(p, at.path)
		if at.depth < maxDepth {
			for _, name := range below {
				todo = append(todo, level{path.Join(at.path, name), at.depth + 1})
			}
		}
	}
}

// list counts the files of one directory and names the directories in it.
func (l *looking) list(p *Process, dir string) (below []string) {
	fd, err := l.openPath(p, dir, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	if mount, err := l.mountOf(fd); err != nil || l.mounts[mount] == nil {
		return nil
	}
	d, err := openToRead(fd)
	if err != nil {
		return nil
	}
	defer d.Close()
	var files []entry
	for {
		names, err := d.Readdirnames(512)
		for _, name := range names {
			if l.entries++; l.entries > maxEntries || l.isOver() {
				l.fail(whyMany)
				l.countEntries(p, fd, dir, files)
				return nil
			}
			switch e, isDir := l.entryOf(fd, name); {
			case isDir:
				below = append(below, name)
			case e != nil:
				files = append(files, *e)
			}
		}
		if err != nil || len(names) == 0 {
			break
		}
	}
	l.countEntries(p, fd, dir, files)
	return below
}

// openToRead opens a directory that a handle leads to, without changing when it was read last where that can be.
func openToRead(fd int) (*os.File, error) {
	at := "/proc/self/fd/" + strconv.Itoa(fd)
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NONBLOCK
	got, err := unix.Open(at, flags|unix.O_NOATIME, 0)
	if err != nil {
		if got, err = unix.Open(at, flags, 0); err != nil {
			return nil, err
		}
	}
	return os.NewFile(uintptr(got), "directory"), nil
}

// entry is a file in a directory.
type entry struct {
	name     string
	modified int64 // nanoseconds since 1970
}

// entryOf says what a name in a directory is: a directory on the same mount, a regular file that is worth
// a look, or, both being none, something else.
func (l *looking) entryOf(dir int, name string) (e *entry, isDir bool) {
	fd, err := openIn(dir, name)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return nil, false
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return nil, true
	case unix.S_IFREG:
		if st.Size > 0 && !l.knows(id{uint64(st.Dev), st.Ino}) {
			return &entry{name, st.Mtim.Nano()}, false
		}
	}
	return nil, false
}

// openIn opens what a directory has under a name, on the same mount and no link.
func openIn(dir int, name string) (int, error) {
	return unix.Openat2(dir, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH})
}

// countEntries counts files of a directory, those written last first.
func (l *looking) countEntries(p *Process, in int, dir string, files []entry) {
	slices.SortFunc(files, func(a, b entry) int { return cmp.Compare(b.modified, a.modified) })
	for _, e := range files {
		if l.isOver() {
			l.fail(whyTime)
			return
		}
		fd, err := openIn(in, e.name)
		if err != nil {
			continue
		}
		h, err := l.examine(fd)
		if err != nil {
			l.refused(err)
			continue
		}
		if h.kind.IsShmem() && l.isOurs(p, h) || h.kind == sample.FileCache && h.stat.Size >= leastInDir {
			l.count(p, h, sample.FilePages{Path: path.Join(dir, e.name)}, -1)
		}
		h.close()
	}
}

// isOurs says whether a file in tmpfs may be the programs': where it cannot be told whose its pages are, it must be
// of the same user, and written since the first of them began.
func (l *looking) isOurs(p *Process, h *handle) bool {
	if l.charge != nil && mayCount(h) && h.stat.Blocks*512 >= int64(leastOwned) {
		return true
	}
	user, err := procfs.UserOf(l.request.Root, p.TID)
	return err == nil && user == int(h.stat.Uid) && h.stat.Mtim.Nano() >= l.began()
}

// began is when the first of the programs began, in nanoseconds since 1970, a second early.
func (l *looking) began() int64 {
	var now, up unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME, &now) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		return now.Nano()
	}
	first := up.Nano()
	for _, p := range l.request.Processes {
		first = min(first, int64(p.Key.Start)*10_000_000) // hundredths of a second since boot
	}
	return now.Nano() - up.Nano() + first - 1_000_000_000
}
