package procfs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// TestMain makes this test binary a program of known memory, too.
func TestMain(m *testing.M) {
	if os.Getenv("PROCFS_TEST_MAPS") != "" {
		mapKnownMemory()
		return
	}
	os.Exit(m.Run())
}

// knownSize is the mapping of mapKnownMemory: its first quarter is written, its
// third quarter only read.
const knownSize = 64 * sample.MiB

// mapKnownMemory maps memory, prints where, and waits until its input ends.
func mapKnownMemory() {
	b, err := syscall.Mmap(-1, 0, int(knownSize), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	page, sum := os.Getpagesize(), 0
	for i := 0; i < len(b)/4; i += page {
		b[i] = 1
		sum += int(b[len(b)/2+i])
	}
	fmt.Printf("%#x\n", uintptr(unsafe.Pointer(&b[0]))+uintptr(sum))
	io.Copy(io.Discard, os.Stdin)
}

// start starts a program that prints a number once it is ready and ends with
// its input.
func start(t testing.TB, cmd *exec.Cmd) (pid int, number uint64) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(line, "%v", &number); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return cmd.Process.Pid, number
}

func startKnown(t testing.TB) (pid int, base uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PROCFS_TEST_MAPS=1")
	return start(t, cmd)
}

func startNative(t *testing.T, args ...string) int {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc, to build a program with malloc:", err)
	}
	bin := filepath.Join(t.TempDir(), "native")
	if out, err := exec.Command("gcc", "-O1", "-fno-builtin", "-pthread", "-o", bin, "testdata/native.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	cmd := exec.Command(bin, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pid, _ := start(t, cmd)
	return pid
}

func TestWatcherFollowsAProcessToItsEnd(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PROCFS_TEST_MAPS=1")
	pid, _ := start(t, cmd)
	w, err := Watch("/proc", pid)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var r sample.Resident
	if err := w.Read(&r); err != nil {
		t.Fatal(err)
	}
	if r.Anon() < knownSize/4 || r.Total > knownSize || r.Threads < 2 || r.Shared == 0 {
		t.Errorf("a process with %d bytes written reads as %+v", knownSize/4, r)
	}
	if key, err := KeyOf("/proc", pid); err != nil || key != w.Key() || key.Start == 0 {
		t.Errorf("KeyOf: %+v, %v; the Watcher's %+v", key, err, w.Key())
	}
	cmd.Process.Kill()
	if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	before := r
	if err := w.Read(&r); !errors.Is(err, ErrGone) || r != before {
		t.Errorf("of a zombie: %+v, %v; want ErrGone and nothing changed", r, err)
	}
	if st, err := StateOf("/proc", pid); err != nil || st != Zombie {
		t.Errorf("state %q, %v; want a zombie", st, err)
	}
	cmd.Wait()
	if err := w.Read(&r); !errors.Is(err, ErrGone) {
		t.Errorf("of a process that was waited for: %v; want ErrGone", err)
	}
	if _, err := Watch("/proc", pid); !errors.Is(err, ErrGone) {
		t.Errorf("Watch of it: %v; want ErrGone", err)
	}
}

func TestReadingAtEveryTickAllocatesNothing(t *testing.T) {
	w, err := Watch("/proc", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	host, err := WatchHost("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	var r sample.Resident
	var h sample.Host
	var p sample.Pressure
	for name, read := range map[string]func() error{
		"Watcher.Read":         func() error { return w.Read(&r) },
		"HostWatcher.Host":     func() error { return host.Host(&h) },
		"HostWatcher.Pressure": func() error { return host.Pressure(&p) },
	} {
		if name == "HostWatcher.Pressure" && host.pressure == nil {
			continue
		}
		if n := testing.AllocsPerRun(100, func() {
			if err := read(); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if h.Total == 0 || h.Available == 0 || h.Available > h.Total {
		t.Errorf("host: %+v", h)
	}
}

func TestDescendantsFindsTheWholeTreeWithAndWithoutChildrenFiles(t *testing.T) {
	cmd := exec.Command("sh", "-c", "(sleep 1000 & echo $!; exec sleep 1000) & wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pid, grandchild := start(t, cmd)
	t.Cleanup(func() { syscall.Kill(-pid, syscall.SIGKILL) })
	child, err := Parent("/proc", int(grandchild))
	if err != nil {
		t.Fatal(err)
	}
	want := []int{child, int(grandchild)}
	if got, err := Descendants("/proc", pid); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if got, err := childrenByParent("/proc", child); err != nil || !slices.Equal(got, want[1:]) {
		t.Errorf("by scan: got %v, %v; want %v", got, err, want[1:])
	}
}

func TestIdentityOfThisProcess(t *testing.T) {
	pid := os.Getpid()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Exe("/proc", pid); err != nil || got != exe {
		t.Errorf("Exe: %q, %v; want %q", got, err, exe)
	}
	if got, err := Name("/proc", pid); err != nil || got != filepath.Base(exe) {
		t.Errorf("Name: %q, %v", got, err)
	}
	if got, err := Comm("/proc", pid); err != nil || !strings.HasPrefix(filepath.Base(exe), got) {
		t.Errorf("Comm: %q, %v", got, err)
	}
	if got, err := Cmdline("/proc", pid); err != nil || !slices.Equal(got, Redact(os.Args)) {
		t.Errorf("Cmdline: %q, %v; want %q", got, err, os.Args)
	}
	if got, err := Threads("/proc", pid); err != nil || len(got) < 2 || got[0] != pid || !slices.IsSorted(got) {
		t.Errorf("Threads: %v, %v", got, err)
	}
}

func TestResidencyDividesGoMemoryByPage(t *testing.T) {
	pid, base := startKnown(t)
	at := func(part sample.Bytes) uint64 { return base + uint64(part*knownSize/16) }
	ranges := []sample.PageRange{ // sixteenths: 0-3 written, 8-11 only read
		{Start: at(0), End: at(14), Kind: sample.RangeArena},
		{Start: at(1), End: at(2), Kind: sample.RangeStacks},
		{Start: at(2), End: at(6), Kind: sample.RangeObjects},       // half untouched
		{Start: at(8), End: at(9), Kind: sample.RangeObjectsNew},    // only read: untouched
		{Start: at(3) + 4096, End: at(3), Kind: sample.RangeStacks}, // nonsense
	}
	r, err := new(Mapper).Residency("/proc", pid, ranges, true)
	if err != nil {
		t.Fatal(err)
	}
	const part = knownSize / 16
	if r.GoObjects != 2*part || r.GoStacks != part || r.GoIdle != part {
		t.Errorf("objects %d, stacks %d, idle %d; want 2, 1 and 1 times %d", r.GoObjects, r.GoStacks, r.GoIdle, part)
	}
	if r.Untouched != 3*part || r.UntouchedNew != part {
		t.Errorf("untouched %d, of which new %d; want 3 and 1 times %d", r.Untouched, r.UntouchedNew, part)
	}
	if r.PageTables == 0 || r.File == 0 || r.Image == 0 || !r.GoKnown {
		t.Errorf("%+v", r)
	}
	checkSum(t, r)
}

// checkSum checks what Residency promises of its rows.
func checkSum(t *testing.T, r *sample.Residency) {
	t.Helper()
	sum := r.GoObjects + r.GoIdle + r.GoStacks + r.GoRuntime + r.CMalloc + r.Mmap + r.Image
	if sum != r.Anon {
		t.Errorf("the rows sum to %d, Anonymous is %d: %+v", sum, r.Anon, r)
	}
}

func TestResidencyWithoutGoKeepsMallocApart(t *testing.T) {
	for name, args := range map[string][]string{"alone": nil, "shared with a forked child": {"fork"}} {
		t.Run(name, func(t *testing.T) {
			r, err := new(Mapper).Residency("/proc", startNative(t, args...), nil, false)
			if err != nil {
				t.Fatal(err)
			}
			within := func(what string, got, want sample.Bytes) {
				if got < want || got > want+256*sample.KiB {
					t.Errorf("%s: %d bytes, want %d and at most 256 KiB more", what, got, want)
				}
			}
			within("malloc", r.CMalloc, 6*sample.MiB)
			within("mmap", r.Mmap, 3*sample.MiB)
			within("image", r.Image, 1*sample.MiB)
			if r.GoObjects+r.GoIdle+r.GoStacks+r.GoRuntime != 0 {
				t.Errorf("Go rows of a C program: %+v", r)
			}
			checkSum(t, r)
		})
	}
}

// standStill stops a process, whose runtime would start threads and map memory of its own meanwhile, until the test ends.
func standStill(t *testing.T, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGCONT) })
	if err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
}

func TestMapperReadsAgainIntoItsBuffers(t *testing.T) {
	pid, base := startKnown(t)
	standStill(t, pid)
	var m Mapper
	first, err := m.Mappings("/proc", pid)
	if err != nil {
		t.Fatal(err)
	}
	n := len(first)
	second, err := m.Mappings("/proc", pid)
	if err != nil || len(second) != n || &second[0] != &first[0] {
		t.Errorf("%d mappings, then %d, %v, in the same place: %v", n, len(second), err, &second[0] == &first[0])
	}
	i := slices.IndexFunc(second, func(v Mapping) bool { return v.Start <= base && base < v.End })
	if i < 0 || second[i].Anonymous < knownSize/4 {
		t.Errorf("the mapping at %#x: %d", base, i)
	}
}

func BenchmarkWatcherRead(b *testing.B) {
	w, err := Watch("/proc", os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	b.ReportAllocs()
	var r sample.Resident
	for b.Loop() {
		if err := w.Read(&r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkResidency reads 256 MiB in 10,000 ranges, the budget's case: 50 ms.
func BenchmarkResidency(b *testing.B) {
	mem, err := syscall.Mmap(-1, 0, 256<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		b.Fatal(err)
	}
	defer syscall.Munmap(mem)
	for i := 0; i < len(mem); i += os.Getpagesize() {
		mem[i] = 1
	}
	base := uint64(uintptr(unsafe.Pointer(&mem[0])))
	ranges := []sample.PageRange{{Start: base, End: base + 256<<20, Kind: sample.RangeArena}}
	for i := range uint64(10_000) {
		ranges = append(ranges, sample.PageRange{Start: base + i*24<<10, End: base + i*24<<10 + 16<<10, Kind: sample.RangeObjects})
	}
	var m Mapper
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Residency("/proc", os.Getpid(), ranges, true); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMemoryIsReadTheSameBothWays(t *testing.T) {
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i * 7)
	}
	addr := int64(uintptr(unsafe.Pointer(&data[0])))
	m, err := OpenMemory("/proc", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	byFile := &Memory{file: m.file}
	for _, n := range []int{1, 100, directFrom, directFrom + 1, len(data)} {
		direct, file := make([]byte, n), make([]byte, n)
		if _, err := m.ReadAt(direct, addr); err != nil {
			t.Fatal(err)
		}
		if _, err := byFile.ReadAt(file, addr); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(direct, data[:n]) || !bytes.Equal(file, data[:n]) {
			t.Errorf("%d bytes differ", n)
		}
	}
	if n, err := m.ReadAt(make([]byte, 1<<16), 0x1000); err == nil {
		t.Errorf("an unmapped address reads %d bytes", n)
	}
	runtime.KeepAlive(data)
}

func TestPiecesAreReadInTheirOrderOrNotAtAll(t *testing.T) {
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i * 7)
	}
	addr := uint64(uintptr(unsafe.Pointer(&data[0])))
	m, err := OpenMemory("/proc", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var pieces [][2]uint64
	var want []byte
	for i := range 3000 { // more than one call takes
		at := i * 7919 % (len(data) - 300)
		n := 1 + i%299
		pieces = append(pieces, [2]uint64{addr + uint64(at), addr + uint64(at+n)})
		want = append(want, data[at:at+n]...)
	}
	for _, m := range []*Memory{m, {file: m.file}} {
		got := make([]byte, len(want))
		if err := m.ReadPieces(got, pieces); err != nil || !bytes.Equal(got, want) {
			t.Errorf("the pieces differ, or %v", err)
		}
		if err := m.ReadPieces(got, pieces[1:]); err == nil {
			t.Error("pieces shorter than the room for them are read")
		}
		if err := m.ReadPieces(got[:16], [][2]uint64{{addr, addr + 8}, {0x1000, 0x1008}}); err == nil {
			t.Error("a piece that is not mapped is read")
		}
		if err := m.ReadPieces(got[:8], [][2]uint64{{addr + 8, addr}}); err == nil {
			t.Error("a piece that ends before it begins is read")
		}
	}
	runtime.KeepAlive(data)
}

func BenchmarkMemory(b *testing.B) {
	data := make([]byte, 4<<20)
	addr := int64(uintptr(unsafe.Pointer(&data[0])))
	m, err := OpenMemory("/proc", os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	buf := make([]byte, 64<<10)
	for _, c := range []struct {
		name string
		m    *Memory
	}{{"direct", m}, {"file", &Memory{file: m.file}}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				for off := 0; off < len(data); off += len(buf) {
					if _, err := c.m.ReadAt(buf, addr+int64(off)); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	runtime.KeepAlive(data)
}
