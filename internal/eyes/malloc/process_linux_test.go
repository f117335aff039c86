package malloc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// mallinfo is what the target says of itself.
type mallinfo struct {
	InUse        sample.Bytes `json:"in_use"`
	Free         sample.Bytes `json:"free"`
	MappedBlocks uint64       `json:"mapped_blocks"`
	Mapped       sample.Bytes `json:"mapped"`
	System       sample.Bytes `json:"system"`
}

// target starts the program and reads its malloc between two equal answers of its own.
func target(t testing.TB, o hwtest.BuildOptions, mode string) (*sample.Malloc, mallinfo) {
	t.Helper()
	o.CGO = true
	cmd := exec.Command(hwtest.Build(t, "testdata/target", o), mode)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	ask := func() (told mallinfo) {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil || json.Unmarshal([]byte(line), &told) != nil {
			t.Fatalf("the target said %q (%v)", line, err)
		}
		return told
	}
	before := ask()
	mem, err := procfs.OpenMemory("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	for range 50 {
		got, err := OfProcess(new(procfs.Mapper), mem, "/proc", cmd.Process.Pid, time.Now().Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, "\n"); err != nil {
			t.Fatal(err)
		}
		after := ask()
		if before == after {
			return got, after
		}
		before = after // a thread of the runtime has begun meanwhile
	}
	t.Fatal("the target never stood still")
	return nil, before
}

// near says that two amounts differ by a hundredth at most, or by what an arena's own state takes.
func near(a, b sample.Bytes) bool {
	return max(a, b)-min(a, b) <= max(b/100, 16*sample.KiB)
}

func compare(t *testing.T, got *sample.Malloc, told mallinfo) {
	t.Helper()
	t.Logf("read %+v; told %+v", *got, told)
	if got.Allocator != glibc || got.WhyNot != "" || got.Unread != 0 || got.WhyUnread != "" {
		t.Errorf("allocator %q (%s), %d unread: %s", got.Allocator, got.WhyNot, got.Unread, got.WhyUnread)
	}
	if !near(got.InUse, told.InUse) || !near(got.Free, told.Free) || got.System != told.System {
		t.Errorf("in use %d, free %d of %d; mallinfo2 says %d, %d of %d", got.InUse, got.Free, got.System, told.InUse, told.Free, told.System)
	}
	if got.Mapped != told.Mapped || got.MappedBlocks != told.MappedBlocks {
		t.Errorf("%d blocks mapped, %d bytes; mallinfo2 says %d, %d", got.MappedBlocks, got.Mapped, told.MappedBlocks, told.Mapped)
	}
	var sum sample.Bytes
	for _, s := range got.Sizes {
		sum += s.Bytes()
	}
	if all := got.InUse + got.Mapped; sum+got.OtherBytes != all {
		t.Errorf("the sizes sum to %d, in use are %d", sum+got.OtherBytes, all)
	}
}

func TestInUseAndFreeAreWhatMallinfoSays(t *testing.T) {
	for _, mode := range []string{"sparse", "trimmed", "small", "arenas", "sizes"} {
		t.Run(mode, func(t *testing.T) {
			got, told := target(t, hwtest.BuildOptions{}, mode)
			compare(t, got, told)
			if got.FreeResident > got.Free || got.Top+got.Whole > got.FreeResident {
				t.Errorf("free %d, in memory %d of it, at the top %d, whole pages %d", got.Free, got.FreeResident, got.Top, got.Whole)
			}
		})
	}
}

func TestStaticGlibcIsFoundInTheExecutable(t *testing.T) {
	for name, o := range map[string]hwtest.BuildOptions{
		"static":   {Ldflags: "-linkmode external -extldflags -static"},
		"stripped": {Ldflags: "-linkmode external -extldflags -static", Strip: true},
		"pie":      {PIE: true, Strip: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, told := target(t, o, "sparse")
			compare(t, got, told)
		})
	}
}

func TestWhatAThreadOfFourArenasKeepsIsTold(t *testing.T) {
	got, _ := target(t, hwtest.BuildOptions{}, "arenas")
	if len(got.Arenas) < 5 {
		t.Errorf("%d arenas, want that of main and of four threads", len(got.Arenas))
	}
	if got.InUse*8 > got.Free {
		t.Errorf("in use %d, free %d: one of sixteen was kept", got.InUse, got.Free)
	}
}

func TestTrimTakesWhatWasCountedAsWholePages(t *testing.T) {
	before, _ := target(t, hwtest.BuildOptions{}, "sparse")
	after, _ := target(t, hwtest.BuildOptions{}, "trimmed")
	gone := before.FreeResident.Sub(after.FreeResident)
	if counted := before.Whole + before.Top; !near(gone, counted) {
		t.Errorf("malloc_trim gave %d back, %d were counted", gone, counted)
	}
	if after.Whole+after.Top > before.FreeResident/50 {
		t.Errorf("after it %d are still counted as whole pages", after.Whole+after.Top)
	}
}

func TestBlocksAreToldBySize(t *testing.T) {
	got, _ := target(t, hwtest.BuildOptions{}, "sizes")
	want := []sample.MallocSize{
		{Size: 8<<20 + 4096, Count: 3, Mapped: true}, {Size: 1<<20 + 4096, Count: 20, Mapped: true},
		{Size: 20_016, Count: 1200}, {Size: 4112, Count: 4000}, {Size: 112, Count: 80_000},
	}
	for _, w := range want {
		found := false
		for _, s := range got.Sizes {
			found = found || s.Size == w.Size && s.Mapped == w.Mapped && s.Count >= w.Count && s.Count <= w.Count+50
		}
		if !found {
			t.Errorf("%d blocks of %d are not in %v", w.Count, w.Size, got.Sizes)
		}
	}
}

func TestAllocatorsAreKnownByTheirFiles(t *testing.T) {
	for _, k := range []struct{ want, paths string }{
		{"glibc", "/usr/lib/x86_64-linux-gnu/libc.so.6"},
		{"glibc", "/lib/libc-2.31.so"},
		{"musl", "/app/server /lib/ld-musl-x86_64.so.1"},
		{"jemalloc", "/usr/lib/libc.so.6 /usr/lib/libjemalloc.so.2"},
		{"tcmalloc", "/usr/lib/libtcmalloc_minimal.so.4 /usr/lib/libc.so.6"},
		{"mimalloc", "/usr/lib/libc.so.6 /opt/libmimalloc.so.2.1 (deleted)"},
		{"", "/app/server"},
	} {
		var list []Mapping
		for p := range strings.FieldsSeq(k.paths) {
			list = append(list, Mapping{File: true, Path: p})
		}
		if got := nameOf(list); got != k.want {
			t.Errorf("%s: %q, want %q", k.paths, got, k.want)
		}
		if k.want != "" && k.want != glibc && howToAsk[k.want] == "" {
			t.Errorf("%s: nothing says how it tells of itself", k.want)
		}
	}
}

// preloaded needs a library that the dynamic linker finds.
func preloaded(name string) func() error {
	return func() error {
		if found, err := filepath.Glob("/usr/lib/*/" + name); err != nil || len(found) == 0 {
			return fmt.Errorf("needs the library %s", name)
		}
		return nil
	}
}

// A program whose arenas of threads lead in circles and say that they are as large as all memory: what is
// read of it ends, in time, with no more than there is.
func TestAProgramThatForgesItsArenasIsReadWithinWhatItHas(t *testing.T) {
	for _, mode := range []string{"forged", "forged-list"} {
		t.Run(mode, func(t *testing.T) { readsForged(t, mode) })
	}
}

func readsForged(t *testing.T, mode string) {
	cmd := exec.Command(hwtest.Build(t, "testdata/target", hwtest.BuildOptions{CGO: true}), mode)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "forged\n" {
		t.Fatalf("the target said %q (%v)", line, err)
	}
	mem, err := procfs.OpenMemory("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	resident, err := procfs.ResidentOf("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	m, err := OfProcess(new(procfs.Mapper), mem, "/proc", cmd.Process.Pid, time.Now().Add(10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("in use %d, free %d, not read %d (%s), %d arenas, %s", m.InUse, m.FreeResident, m.Unread, m.WhyUnread, len(m.Arenas), m.WhyNot)
	if m.InUse+m.FreeResident > 2*resident || m.Blocks*32 > uint64(2*resident) {
		t.Errorf("%d bytes in %d blocks in use and %d free, of %d that are resident", m.InUse, m.Blocks, m.FreeResident, resident)
	}
	if m.Unread > 64*resident {
		t.Errorf("%d bytes are said to be not read, of a program with %d", m.Unread, resident)
	}
	if m.WhyUnread == "" && m.WhyNot == "" {
		t.Error("it is not said that anything was not read")
	}
}

func TestAnotherAllocatorIsNamed(t *testing.T) {
	for _, k := range []struct {
		name    string
		need    func() error
		build   hwtest.BuildOptions
		preload string
	}{
		{"musl", hwtest.Program("musl-gcc"), hwtest.BuildOptions{Env: []string{"CC=musl-gcc"}, Ldflags: "-linkmode external -extldflags -static"}, ""},
		{"jemalloc", preloaded("libjemalloc.so.2"), hwtest.BuildOptions{}, "libjemalloc.so.2"},
		{"mimalloc", preloaded("libmimalloc.so.2"), hwtest.BuildOptions{}, "libmimalloc.so.2"},
	} {
		t.Run(k.name, func(t *testing.T) {
			hwtest.Need(t, k.need)
			k.build.CGO = true
			cmd := exec.Command(hwtest.Build(t, "../../aside/testprog/cgofrag", k.build), "-blocks", "1000")
			cmd.Env = append(os.Environ(), "LD_PRELOAD="+k.preload)
			out, err := cmd.StdoutPipe()
			if err != nil || cmd.Start() != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatalf("%q, %v", line, err)
			}
			mem, err := procfs.OpenMemory("/proc", cmd.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			defer mem.Close()
			got, err := OfProcess(new(procfs.Mapper), mem, "/proc", cmd.Process.Pid, time.Now().Add(time.Minute))
			if errors.Is(err, ErrNone) {
				exe, err := os.Open(cmd.Path)
				if err != nil {
					t.Fatal(err)
				}
				defer exe.Close()
				got = &sample.Malloc{Allocator: LinkedIn(exe)}
				got.WhyNot = Named(got.Allocator)
			} else if err != nil {
				t.Fatal(err)
			}
			if got.Allocator != k.name || got.WhyNot == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}
