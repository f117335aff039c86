package filepages

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// look counts what programs have open, then what they have mapped, then what is found in directories.
func (w *work) look() {
	l := looking{work: w, mounts: map[int]*procfs.Mount{}, seen: map[int][]procfs.Mount{}, pseudo: map[int]bool{}}
	l.learnMemfd()
	l.learnLeases()
	l.charge = w.owners.of(w.request.Cgroup)
	for i := range w.request.Processes {
		l.learnMounts(&w.request.Processes[i])
	}
	for i := range w.request.Processes {
		l.openFiles(&w.request.Processes[i])
	}
	for i := range w.request.Processes {
		l.mappedFiles(&w.request.Processes[i])
	}
	l.directories()
}

// looking is what a look knows of the machine.
type looking struct {
	*work
	mounts   map[int]*procfs.Mount  // by their IDs, which are the machine's; only those whose files answer
	seen     map[int][]procfs.Mount // what a process has mounted, by Process.TID
	pseudo   map[int]bool           // mounts whose files have no pages
	memfd    id                     // mount ID and device of the kernel's own tmpfs
	leases   map[id]bool
	noLeases bool // it is not known which files have leases
	charge   func(pages) (sample.Bytes, bool)
	entries  int // of directories, read
	read     int // directories
}

// learnMounts notes whose files answer. A mount below one that does not answer is left out: a way to it leads
// through that.
func (l *looking) learnMounts(p *Process) {
	list, err := procfs.Mounts(l.request.Root, p.TID)
	if err != nil {
		l.fail(reasonOf(err))
		return
	}
	l.seen[p.TID] = list
	all := map[int]*procfs.Mount{}
	for i := range list {
		all[list[i].ID] = &list[i]
	}
	for i := range list {
		if answers(&list[i], all) {
			l.mounts[list[i].ID] = &list[i]
		}
		if slices.Contains(pseudo, list[i].Kind) {
			l.pseudo[list[i].ID] = true
		}
	}
}

// pseudo are the file systems whose files the kernel makes up as they are read.
var pseudo = []string{"bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "mqueue", "proc", "pstore", "securityfs", "selinuxfs", "sysfs", "tracefs"}

// answers says whether a mount and all above it are local. The topmost one's parent is not listed.
func answers(m *procfs.Mount, all map[int]*procfs.Mount) bool {
	for depth := 0; m != nil; depth++ {
		if !m.IsLocal() || depth > 1000 {
			return false
		}
		if m.Parent == m.ID {
			return true
		}
		m = all[m.Parent]
	}
	return true
}

// learnMemfd finds the kernel's own mount of tmpfs, which no list of mounts has: memfd_create(2), System V
// shared memory and shared mappings without a file are on it (mm/shmem.c, shm_mnt).
func (l *looking) learnMemfd() {
	l.memfd.dev = ^uint64(0)
	fd, err := unix.MemfdCreate("highwater", unix.MFD_CLOEXEC)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if mount, err := l.mountOf(fd); err == nil && unix.Fstat(fd, &st) == nil {
		l.memfd = id{uint64(st.Dev), uint64(mount)}
	}
}

// maxLocks bounds what is read of a machine's locks.
const maxLocks = 4 << 20

// learnLeases notes the files that a program holds a lease on (fcntl(2), F_SETLEASE; proc_locks(5)): to open one
// would send it a signal.
func (l *looking) learnLeases() {
	text, err := readUpTo(filepath.Join(l.request.Root, "locks"), maxLocks)
	if l.noLeases = err != nil; err != nil {
		return
	}
	l.leases = leasesOf(text)
}

// leasesOf are the files of "12: LEASE  ACTIVE    WRITE 4121 08:01:2621447 0 EOF".
func leasesOf(text []byte) map[id]bool {
	found := map[id]bool{}
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte("LEASE")) {
			continue
		}
		for _, word := range strings.Fields(string(line)) {
			parts := strings.Split(word, ":")
			if len(parts) != 3 {
				continue
			}
			major, err1 := strconv.ParseUint(parts[0], 16, 32)
			minor, err2 := strconv.ParseUint(parts[1], 16, 32)
			inode, err3 := strconv.ParseUint(parts[2], 10, 64)
			if errors.Join(err1, err2, err3) == nil {
				found[id{unix.Mkdev(uint32(major), uint32(minor)), inode}] = true
			}
		}
	}
	return found
}

// errForeign says that a file may never answer, errNot that it is no regular one.
var (
	errForeign = errors.New(whyForeign)
	errNot     = errors.New("not a regular file")
)

// openFiles counts what a process has open.
func (l *looking) openFiles(p *Process) {
	dir := filepath.Join(l.request.Root, strconv.Itoa(p.TID), "fd")
	d, err := os.Open(dir)
	if err != nil {
		l.fail(reasonOf(err))
		return
	}
	defer d.Close()
	l.workingIn(p)
	for seen := 0; ; {
		names, err := d.Readdirnames(512)
		for _, name := range names {
			if seen++; seen > maxDescriptors {
				l.fail(whyMany)
				return
			}
			if l.isOver() {
				l.fail(whyTime)
				return
			}
			l.openFile(p, dir, name)
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}

// openFile counts one of them.
func (l *looking) openFile(p *Process, dir, name string) {
	link := filepath.Join(dir, name)
	text, err := os.Readlink(link)
	if err != nil || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "/dev/") && !strings.HasPrefix(text, "/dev/shm/") {
		return // a pipe, a socket, a device, or gone meanwhile
	}
	fd, err := unix.Open(link, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	h, err := l.examine(fd)
	if err != nil {
		l.refused(err)
		return
	}
	defer h.close()
	if h.kind == sample.FileCache && !isImage(text) {
		l.remember(position{p.Key, path.Dir(text)})
	}
	n, _ := strconv.Atoi(name)
	l.count(p, h, sample.FilePages{Path: text, Process: p.Key, Descriptors: 1}, n)
}

// refused notes a file that was not opened; one that is not regular has no pages.
func (l *looking) refused(err error) {
	if !errors.Is(err, errNot) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ESRCH) {
		l.fail(reasonOf(err))
	}
}

// reasonOf is why a file was not counted, in words.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "they are another user's: that needs root, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"
	case errors.Is(err, procfs.ErrGone), errors.Is(err, unix.ESRCH):
		return "the program was gone"
	}
	return err.Error()
}

// isImage says whether a path is a library's or that of program text, whose directory has no data.
func isImage(name string) bool {
	return strings.HasPrefix(name, "/usr/") || strings.HasPrefix(name, "/lib") || strings.HasSuffix(name, ".so") || strings.Contains(path.Base(name), ".so.")
}

// mappedFiles counts what a process has mapped. Without the right to open a mapping itself its path is
// tried, and where that does not lead to the file, what the process has of it in its address space is all.
func (l *looking) mappedFiles(p *Process) {
	for _, m := range p.Mapped {
		if l.isOver() {
			l.fail(whyTime)
			return
		}
		f := sample.FilePages{Path: m.Path, Process: p.Key, Mappings: m.Mappings, Mapped: m.Resident}
		h, err := l.mapping(p, m)
		if err != nil {
			l.mappedAlone(m, f)
			continue
		}
		if h.kind == sample.FileCache && m.Shared {
			l.remember(position{p.Key, path.Dir(strings.TrimSuffix(m.Path, " (deleted)"))})
		}
		if text, err := os.Readlink(h.at()); err == nil {
			f.Path = text
		}
		l.count(p, h, f, -1)
		h.close()
	}
}

// mapping opens what is mapped.
func (l *looking) mapping(p *Process, m procfs.MappedFile) (*handle, error) {
	link := filepath.Join(l.request.Root, strconv.Itoa(p.TID), "map_files", strconv.FormatUint(m.Start, 16)+"-"+strconv.FormatUint(m.End, 16))
	fd, err := unix.Open(link, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		if fd, err = l.openPath(p, m.Path, unix.O_PATH); err != nil {
			return nil, err
		}
	}
	h, err := l.examine(fd)
	if err == nil && h.stat.Ino != m.Inode { // another file has its name now
		h.close()
		return nil, errNot
	}
	return h, err
}

// mappedAlone counts the pages that a process has of a file which cannot be opened.
func (l *looking) mappedAlone(m procfs.MappedFile, f sample.FilePages) {
	major, minor, _ := strings.Cut(m.Device, ":")
	a, _ := strconv.ParseUint(major, 10, 32)
	b, _ := strconv.ParseUint(minor, 10, 32)
	f.Kind, f.Resident, f.Partial = l.kindOf(m), m.Resident, true
	f.Path, f.Deleted = strings.CutSuffix(m.Path, " (deleted)")
	l.add(id{unix.Mkdev(uint32(a), uint32(b)), m.Inode}, named(f))
}

// kindOf is the kind of a file by the device that it lies on.
func (l *looking) kindOf(m procfs.MappedFile) sample.FileKind {
	for _, mount := range l.mounts {
		if mount.Device == m.Device {
			if mount.IsMemory() {
				return sample.FileTmpfs
			}
			return sample.FileCache
		}
	}
	if name := strings.TrimSuffix(m.Path, " (deleted)"); name != m.Path &&
		(name == "/dev/zero" || strings.HasPrefix(name, "/memfd:") || strings.HasPrefix(name, "/SYSV")) {
		return sample.FileShm
	}
	return sample.FileCache
}

// named tells what lies on the kernel's own tmpfs apart by its name.
func named(f sample.FilePages) sample.FilePages {
	if f.Kind == sample.FileShm && strings.HasPrefix(f.Path, "/memfd:") {
		f.Kind = sample.FileMemfd
	}
	return f
}

// openPath opens a path as a process sees it, by way of local mounts alone: it leads through no link of /proc, and
// to a mount that answers, as far as its mounts say.
func (l *looking) openPath(p *Process, name string, flags uint64) (int, error) {
	if !l.isReachable(p, name) {
		return -1, errForeign
	}
	root, err := unix.Open(filepath.Join(l.request.Root, strconv.Itoa(p.TID), "root"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	return unix.Openat2(root, name, &unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
}

// isReachable says whether no mount in sight that may not answer lies on the way to a path. Links on the way
// may lead elsewhere: of what a program does to make us wait, package comment and Looker have the rest.
func (l *looking) isReachable(p *Process, name string) bool {
	for _, m := range l.seen[p.TID] {
		if under(name, m.Point) && l.mounts[m.ID] == nil {
			return false
		}
	}
	return len(l.seen[p.TID]) > 0
}

// under says whether a path is another or below it.
func under(name, above string) bool {
	return name == above || above == "/" || strings.HasPrefix(name, above+"/")
}

// workingIn remembers where a process works: its current directory, and directories that its command line names.
func (l *looking) workingIn(p *Process) {
	at := filepath.Join(l.request.Root, strconv.Itoa(p.TID))
	if dir, err := os.Readlink(filepath.Join(at, "cwd")); err == nil && dir != "/" && strings.HasPrefix(dir, "/") {
		l.remember(position{p.Key, dir})
	}
	line, err := readUpTo(filepath.Join(at, "cmdline"), 64<<10)
	if err != nil {
		return
	}
	for _, arg := range strings.Split(string(line), "\x00")[1:] {
		if _, value, ok := strings.Cut(arg, "="); ok {
			arg = value
		}
		if path.IsAbs(arg) && path.Clean(arg) != "/" && !slices.Contains([]string{"/proc", "/sys", "/dev"}, path.Clean(arg)) {
			l.remember(position{p.Key, path.Clean(arg)})
		}
	}
}
