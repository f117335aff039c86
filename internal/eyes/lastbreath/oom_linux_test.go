package lastbreath

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// memoryCgroup makes a v1 memory cgroup with a limit, and skips the test where
// that is not possible.
func memoryCgroup(t *testing.T, name string, limit sample.Bytes) string {
	t.Helper()
	hwtest.Slow(t, "traces a program")
	const root = "/sys/fs/cgroup/memory"
	if _, err := os.Stat(filepath.Join(root, "memory.limit_in_bytes")); err != nil || os.Getuid() != 0 {
		t.Skip("needs root and cgroup v1's memory controller:", err)
	}
	dir := filepath.Join(root, fmt.Sprintf("hwtest-%s-%d", name, os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip("needs the right to make a cgroup:", err)
	}
	t.Cleanup(func() {
		until(t, func() bool { return os.Remove(dir) == nil })
	})
	if err := os.WriteFile(filepath.Join(dir, "memory.limit_in_bytes"), []byte(strconv.Itoa(int(limit))), 0); err != nil {
		t.Fatal(err)
	}
	return dir
}

// capture reads all resident memory of a process, and says how much it was and
// how much of it could not be read.
type capture struct {
	buf []byte
	// of the last reading
	resident, read sample.Bytes
	took           time.Duration
}

func (c *capture) readAll(tid int, page uint64) error {
	start := time.Now()
	var m procfs.Mapper
	mappings, err := m.Mappings(procRoot, tid)
	if err != nil {
		return err
	}
	pm, err := procfs.OpenPagemap(procRoot, tid)
	if err != nil {
		return err
	}
	defer pm.Close()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", tid))
	if err != nil {
		return err
	}
	defer mem.Close()
	c.resident, c.read = 0, 0
	for _, v := range mappings {
		if v.Anonymous == 0 {
			continue
		}
		pages, err := pm.Pages(nil, v.Start, v.End)
		if err != nil {
			return err
		}
		for i := 0; i < len(pages); i++ {
			first := i
			for i < len(pages) && pages[i].Present() && i-first < len(c.buf)/int(page) {
				i++
			}
			if i == first {
				continue
			}
			size := (i - first) * int(page)
			c.resident += sample.Bytes(size)
			n, _ := mem.ReadAt(c.buf[:size], int64(v.Start)+int64(first)*int64(page))
			c.read += sample.Bytes(n)
			i--
		}
	}
	c.took = time.Since(start)
	return nil
}

func TestTwentyOutOfMemoryKillsAreReadCompletely(t *testing.T) {
	const limit = 256 * sample.MiB
	dir := memoryCgroup(t, "kills", limit)
	c := capture{buf: make([]byte, 1<<20)}
	page := uint64(os.Getpagesize())
	var longest time.Duration
	complete := 0
	tracer, log := newTracer(t, Options{}, func(d Death) {
		if err := c.readAll(d.TID, page); err != nil {
			t.Errorf("read: %v", err)
		}
		switch {
		case c.read == c.resident && c.resident > limit*9/10:
			complete++
		case c.took > HoldOOM/2: // the kernel's reaper was faster, on a very busy machine
			t.Logf("read %d of %d resident bytes in %v", c.read, c.resident, c.took)
		default:
			t.Errorf("read %d of %d resident bytes in %v", c.read, c.resident, c.took)
		}
		longest = max(longest, c.took)
	})
	for range 20 {
		p, err := tryStart(t, tracer, Command{Args: []string{target, "alloc"}, BeforeRun: func(pid int) error {
			return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
		}})
		if err != nil {
			t.Fatal(err)
		}
		log.wait(t, fmt.Sprintf("dying %d signal 9", p.pid))
		log.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
	}
	control, err := os.ReadFile(filepath.Join(dir, "memory.oom_control"))
	if err != nil || !strings.Contains(string(control), "oom_kill 20\n") {
		t.Errorf("the kernel says %q, %v; want 20 kills", control, err)
	}
	if complete < 10 {
		t.Errorf("%d of 20 complete, the longest reading took %v", complete, longest)
	}
}

// While one is held another wants memory of the same cgroup, all the time.
func TestAKillTakesNobodyElse(t *testing.T) {
	dir := memoryCgroup(t, "beside", 64*sample.MiB)
	inside := func(pid int) error {
		return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
	}
	var held atomic.Int64
	shortages := func() int64 {
		b, err := os.ReadFile(filepath.Join(dir, "memory.failcnt"))
		n, _ := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	tracer, log := newTracer(t, Options{}, func(d Death) {
		for before, n := shortages(), 0; shortages() == before && n < 1e6; n++ {
			runtime.Gosched() // until memory is short for the other
		}
		held.Add(1)
	})
	beside := exec.Command(target, "come and go")
	in, err := beside.StdinPipe()
	if err == nil {
		err = beside.Start()
	}
	if err == nil {
		err = inside(beside.Process.Pid)
	}
	if err != nil {
		t.Fatal(err)
	}
	const kills = 10
	for range kills {
		p, err := tryStart(t, tracer, Command{Args: []string{target, "alloc"}, BeforeRun: inside})
		if err != nil {
			t.Fatal(err)
		}
		log.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
	}
	in.Close()
	if err := beside.Wait(); err != nil {
		t.Errorf("the one beside it: %v", err)
	}
	if n := held.Load(); n != kills {
		t.Errorf("%d of %d deaths were held", n, kills)
	}
}

func TestAKilledProcessEndsWhereTheTracerIsClosedMeanwhile(t *testing.T) {
	held := make(chan struct{})
	tracer, _ := newTracer(t, Options{}, func(Death) { close(held) })
	p := start(t, tracer, target, "stay")
	unix.Kill(p.pid, unix.SIGKILL)
	<-held
	if err := tracer.Close(); err != nil {
		t.Error(err)
	}
	until(t, func() bool { return !lives(p.pid) })
}

func TestTheWholeProcessIsFollowedWhenItsFirstThreadEnds(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc, to build a program whose first thread ends:", err)
	}
	bin := filepath.Join(t.TempDir(), "leader")
	if out, err := exec.Command("gcc", "-pthread", "-o", bin, "testdata/leader.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	for want, end := range map[string]func(*program){
		"exit 4":   func(p *program) { p.in.Close() },
		"signal 9": func(p *program) { unix.Kill(p.pid, unix.SIGKILL) },
	} {
		var byThread atomic.Int64
		tracer, log := newTracer(t, Options{}, func(d Death) {
			byThread.Store(int64(d.TID))
			if r, err := new(procfs.Mapper).Residency(procRoot, d.TID, nil, false); err != nil || r.Anon == 0 {
				t.Errorf("residency by thread: %+v, %v", r, err)
			}
		})
		p := start(t, tracer, bin)
		p.ready(t)
		until(t, func() bool {
			tids, _ := procfs.Threads(procRoot, p.pid)
			tracer, _ := procfs.TracerOf(procRoot, tids[len(tids)-1])
			return tracer != 0
		})
		end(p)
		log.wait(t, fmt.Sprintf("dying %d %s", p.pid, want))
		log.wait(t, fmt.Sprintf("gone %d %s", p.pid, want))
		if tid := int(byThread.Load()); tid == 0 || tid == p.pid {
			t.Errorf("held by its first thread, which had ended")
		}
		if lines := log.all(); len(lines) != 3 {
			t.Errorf("told %q; want exec, dying, gone", lines)
		}
	}
}

func TestManyProcessesDieAtOnce(t *testing.T) {
	tracer, log := newTracer(t, Options{}, nil)
	var pids []int
	for range 8 {
		p := start(t, tracer, target, "stay")
		pids = append(pids, log.expect(p.ready(t)))
	}
	for _, pid := range pids {
		unix.Kill(pid, unix.SIGKILL)
	}
	for _, pid := range pids {
		log.wait(t, fmt.Sprintf("dying %d signal 9, intact", pid))
		log.wait(t, fmt.Sprintf("gone %d signal 9", pid))
	}
}
