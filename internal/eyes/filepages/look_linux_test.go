package filepages

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// ourselves is this process, with what it has mapped.
func ourselves(t *testing.T) Process {
	t.Helper()
	key, err := procfs.KeyOf("/proc", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	m := &procfs.Mapper{}
	if _, err := m.Mappings("/proc", os.Getpid()); err != nil {
		t.Fatal(err)
	}
	return Process{Key: key, TID: os.Getpid(), Mapped: m.MappedFiles()}
}

// lookAt looks at this process, with so much page cache and shared memory to be explained.
func lookAt(t *testing.T, l *Looker, cache, shmem sample.Bytes) *sample.Files {
	t.Helper()
	return l.Look(Request{Root: "/proc", Processes: []Process{ourselves(t)}, PageCache: cache, Shmem: shmem, Until: time.Now().Add(20 * time.Second)})
}

// file finds a file by its path.
func file(t *testing.T, f *sample.Files, path string) sample.FilePages {
	t.Helper()
	i := slices.IndexFunc(f.List, func(one sample.FilePages) bool { return one.Path == path })
	if i < 0 {
		t.Fatalf("%q is not among %+v", path, f)
	}
	return f.List[i]
}

// onDisk is a directory whose files are page cache.
func onDisk(t *testing.T) string {
	t.Helper()
	at := "."
	if _, err := os.Stat("/disk"); err == nil { // a guest's, whose other files are in memory
		at = "/disk"
	}
	dir, err := os.MkdirTemp(at, "files-*.tmp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	if st.Type == unix.TMPFS_MAGIC || st.Type == unix.RAMFS_MAGIC {
		t.Skip("SKIP-REASON: needs a directory on a disk")
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// inMemory is a directory in tmpfs.
func inMemory(t *testing.T) string {
	t.Helper()
	at := "/dev/shm"
	if _, err := os.Stat(at); err != nil { // as in a guest
		at = "/tmp"
	}
	dir, err := os.MkdirTemp(at, "highwater-files-*")
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || st.Type != unix.TMPFS_MAGIC {
		t.Skip("SKIP-REASON: needs a tmpfs at /dev/shm or /tmp")
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func write(t *testing.T, name string, size int) string {
	t.Helper()
	if err := os.WriteFile(name, bytes.Repeat([]byte{1}, size), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

const some = 4 << 20

func TestAnOpenFileIsCountedWithWhatWaitsToBeWritten(t *testing.T) {
	dir := onDisk(t)
	f := open(t, write(t, filepath.Join(dir, "a.db-wal"), some))
	before, err := f.Seek(100, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := file(t, lookAt(t, &Looker{}, 1<<40, 0), f.Name())
	if got.Kind != sample.FileCache || got.Resident != some || got.Size != some || got.Descriptors != 1 || got.Deleted {
		t.Errorf("%+v", got)
	}
	if (unixHas(t, unix.SYS_CACHESTAT) && !got.Dirty.OK) || got.Dirty.V > some {
		t.Errorf("dirty: %+v", got)
	}
	if after, err := f.Seek(0, 1); after != before || err != nil {
		t.Errorf("its place moved from %d to %d, %v", before, after, err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if got := file(t, lookAt(t, &Looker{}, 1<<40, 0), f.Name()); got.Dirty.V != 0 {
		t.Errorf("once it was written: %+v", got)
	}
}

// unixHas says whether the kernel has a system call.
func unixHas(t *testing.T, number uintptr) bool {
	t.Helper()
	_, _, errno := unix.Syscall(number, ^uintptr(0), 0, 0)
	return errno != unix.ENOSYS
}

func TestTheOldWayCountsTheSamePages(t *testing.T) {
	f := open(t, write(t, filepath.Join(onDisk(t), "a"), some))
	l := &looking{work: &work{request: Request{Until: time.Now().Add(time.Minute)}}}
	h := &handle{fd: int(f.Fd())}
	if err := unix.Fstat(h.fd, &h.stat); err != nil {
		t.Fatal(err)
	}
	var got sample.FilePages
	if err := l.counted(h.fd, h, &got); err != nil || got.Resident != some {
		t.Errorf("%d resident, %v", got.Resident, err)
	}
}

func TestFilesWithoutANameAreNamed(t *testing.T) {
	fd, err := unix.MemfdCreate("frames", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, make([]byte, some)); err != nil {
		t.Fatal(err)
	}
	removed := open(t, write(t, filepath.Join(inMemory(t), "gone"), some))
	if err := os.Remove(removed.Name()); err != nil {
		t.Fatal(err)
	}
	shared, err := unix.Mmap(-1, 0, some, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(shared) }()
	for i := range shared {
		shared[i] = 1
	}
	got := lookAt(t, &Looker{}, 0, 0)
	for name, kind := range map[string]sample.FileKind{"/memfd:frames": sample.FileMemfd, removed.Name(): sample.FileTmpfs, "/dev/zero": sample.FileShm} {
		f := file(t, got, name)
		if f.Kind != kind || f.Resident < some || f.Resident > some+64<<10 || !f.Deleted {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestTmpfsFilesThatNobodyHasOpenAreFound(t *testing.T) {
	dir := inMemory(t)
	if err := os.Mkdir(filepath.Join(dir, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 25 {
		write(t, filepath.Join(dir, "below", fmt.Sprintf("%02d.tmp", i)), 1<<20)
	}
	got := lookAt(t, &Looker{}, 0, 1<<40)
	for i := range 25 {
		if f := file(t, got, filepath.Join(dir, "below", fmt.Sprintf("%02d.tmp", i))); f.Kind != sample.FileTmpfs || f.Resident != 1<<20 || f.Process.PID != 0 {
			t.Errorf("%+v", f)
		}
	}
	if got := lookAt(t, &Looker{}, 0, 0); slices.ContainsFunc(got.List, func(f sample.FilePages) bool { return strings.HasPrefix(f.Path, dir) }) {
		t.Error("where nothing is to be explained directories are not searched")
	}
}

func TestAFileThatWasClosedIsFoundWhereOthersWere(t *testing.T) {
	dir := onDisk(t)
	l := &Looker{}
	f := open(t, write(t, filepath.Join(dir, "first"), some))
	lookAt(t, l, 1<<40, 0)
	write(t, filepath.Join(dir, "second"), some)
	f.Close()
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	got := lookAt(t, l, 1<<40, 0)
	for _, name := range []string{"first", "second"} {
		if f := file(t, got, filepath.Join(dir, name)); f.Resident != some || f.Process.PID != 0 {
			t.Errorf("%+v", f)
		}
	}
}

func TestAMappedFileIsFoundWithoutADescriptor(t *testing.T) {
	f := open(t, write(t, filepath.Join(onDisk(t), "a.db"), some))
	m, err := unix.Mmap(int(f.Fd()), 0, some, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(m) }()
	f.Close()
	sum := 0
	for i := 0; i < some/2; i += 4096 {
		sum += int(m[i])
	}
	got := file(t, lookAt(t, &Looker{}, 1<<40, 0), f.Name())
	if got.Resident != some || got.Mapped < some/2 || got.Mapped > some || got.Mappings != 1 || got.Descriptors != 0 || got.Partial || sum == 0 {
		t.Errorf("%+v", got)
	}
}

func TestNamesThatDeceiveAreKeptAsTheyAre(t *testing.T) {
	dir := inMemory(t)
	var names []string
	for _, name := range []string{"a\nb", "\x1b[31mred", "there (deleted)", `back\012slash`, "not \xff text"} {
		names = append(names, open(t, write(t, filepath.Join(dir, name), some)).Name())
	}
	got := lookAt(t, &Looker{}, 0, 0)
	for _, name := range names {
		if f := file(t, got, name); f.Deleted || f.Resident != some {
			t.Errorf("%+v", f)
		}
	}
}

func TestWhatIsNoRegularFileIsNotOpened(t *testing.T) {
	dir := onDisk(t)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	both, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	zero, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer zero.Close()
	got := lookAt(t, &Looker{dirs: []position{{ourselves(t).Key, dir}}}, 1<<40, 0)
	for _, f := range got.List {
		if f.Path == pipe || f.Path == "/dev/zero" {
			t.Errorf("%+v", f)
		}
	}
}

func TestAFileWithALeaseIsLeftAlone(t *testing.T) {
	name := write(t, filepath.Join(onDisk(t), "leased"), some)
	f := open(t, name)
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skip("SKIP-REASON: needs a file system with leases: ", err)
	}
	l := &looking{work: &work{request: Request{Root: "/proc", Until: time.Now().Add(time.Minute)}}}
	l.learnLeases()
	h := &handle{fd: int(f.Fd())}
	if err := unix.Fstat(h.fd, &h.stat); err != nil {
		t.Fatal(err)
	}
	if fd, err := l.reopen(&Process{}, h, -1); err == nil || !strings.Contains(err.Error(), "lease") {
		t.Errorf("%d, %v", fd, err)
	}
}

func TestAnEndlessFileWithoutDataIsSoonCounted(t *testing.T) {
	for _, dir := range []string{inMemory(t), onDisk(t)} {
		f := open(t, write(t, filepath.Join(dir, "sparse"), some))
		size := int64(1)<<62 + 1 // more than 4 EiB
		for f.Truncate(size) != nil {
			size /= 2
		}
		if got := file(t, lookAt(t, &Looker{}, 1<<40, 0), f.Name()); got.Resident != some || got.Size != sample.Bytes(size) {
			t.Errorf("%d bytes long: %+v", size, got)
		}
	}
}

func TestManyDescriptorsHaveAnEnd(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	more := unix.Rlimit{Cur: maxDescriptors + 1000, Max: max(limit.Max, maxDescriptors+1000)}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &more); err != nil {
		t.Skip("SKIP-REASON: needs a limit of open files of 21000: ", err)
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) }()
	f := open(t, write(t, filepath.Join(inMemory(t), "many"), some))
	for range maxDescriptors + 100 {
		fd, err := unix.Dup(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
	}
	got := lookAt(t, &Looker{}, 0, 0)
	if one := file(t, got, f.Name()); one.Descriptors < maxDescriptors-100 || one.Descriptors > maxDescriptors || got.Why != whyMany {
		t.Errorf("%d descriptors, %q", one.Descriptors, got.Why)
	}
	began := time.Now()
	got = (&Looker{}).Look(Request{Root: "/proc", Processes: []Process{ourselves(t)}, Until: time.Now()})
	if got.Unread == 0 || got.Why == "" {
		t.Errorf("after no time: %+v in %v", got, time.Since(began))
	}
}

func TestALookThatHangsIsGivenUpWithWhatItHas(t *testing.T) {
	l := &Looker{busy: true}
	if got := l.Look(Request{Until: time.Now().Add(time.Minute)}); got.Why != whyHangs || len(got.List) != 0 {
		t.Errorf("%+v", got)
	}
	w := &work{}
	w.add(id{1, 1}, sample.FilePages{Path: "/a", Resident: some})
	if got := w.result(); len(got.List) != 1 {
		t.Errorf("%+v", got)
	}
	w.add(id{1, 2}, sample.FilePages{Path: "/b", Resident: some})
	if len(w.files) != 1 {
		t.Error("a file was added after the result was taken")
	}
}

func TestWhoseThePagesOfAFileAreIsTold(t *testing.T) {
	hwtest.Need(t, hwtest.Root)
	owners, err := OpenOwners("/proc")
	if err != nil {
		t.Skip("SKIP-REASON: needs the kernel's map of pages: ", err)
	}
	defer owners.Close()
	f := open(t, write(t, filepath.Join(onDisk(t), "ours"), some))
	got := file(t, lookIn(t, owners, ourGroup(t)), f.Name())
	if !got.Charged.OK || got.Charged.V < some/10*9 {
		t.Errorf("charged to us: %+v", got)
	}
	if got := lookIn(t, owners, t.TempDir()); slices.ContainsFunc(got.List, func(one sample.FilePages) bool { return one.Path == f.Name() }) {
		t.Errorf("charged to another: %+v", got.List)
	}
}

func lookIn(t *testing.T, o *Owners, group string) *sample.Files {
	t.Helper()
	return (&Looker{Owners: o}).Look(Request{Root: "/proc", Processes: []Process{ourselves(t)}, Cgroup: group, Until: time.Now().Add(20 * time.Second)})
}

// ourGroup is the directory of the memory cgroup that this process is in.
func ourGroup(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		for _, root := range map[string][]string{"memory": {"/sys/fs/cgroup/memory"}, "": {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}}[parts[1]] {
			if _, err := os.Stat(filepath.Join(root, parts[2], "cgroup.procs")); err == nil {
				return filepath.Join(root, parts[2])
			}
		}
	}
	t.Skip("SKIP-REASON: needs a memory cgroup in sight")
	return ""
}
