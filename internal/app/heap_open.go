package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/corefile"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// heapTarget is a program whose heap is to be read.
type heapTarget struct {
	name    string
	pid     int // 0: a core file
	bin     *gobin.Binary
	bias    uint64
	others  []string       // libraries with Go runtimes of their own, which are not read
	memory  *lastingMemory // of a process
	runtime *gomem.Runtime
	stats   *gostats.Stats
	heap    *goheap.Heap
	threads []goheap.Thread // of a core
	closers []io.Closer
}

func (t *heapTarget) close() {
	for _, c := range t.closers {
		_ = c.Close()
	}
}

// openLiveHeap opens a process.
func openLiveHeap(pid int) (*heapTarget, error) {
	t := &heapTarget{pid: pid}
	t.name, _ = procfs.Name("/proc", pid)
	err := t.attachLive()
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, procfs.ErrGone), errors.Is(err, fs.ErrNotExist):
		err = Usagef("pgrep NAME shows pids", "there is no process %d", pid)
	case errors.Is(err, fs.ErrPermission):
		err = &ExitError{Code: exitNotPermitted, Err: fmt.Errorf("the memory of process %d: %w", pid, err), Hint: "highwater doctor says what is allowed here"}
	default:
		err = fmt.Errorf("process %d: %w", pid, err)
	}
	t.close()
	return nil, err
}

func (t *heapTarget) attachLive() error {
	found, err := watch.OpenGo("/proc", t.pid)
	if err != nil {
		return err
	}
	t.bin, t.bias, t.others, t.closers = found.Binary, found.Bias, found.Others, append(t.closers, found)
	t.memory = &lastingMemory{Memory: found.Memory}
	if t.runtime, err = gomem.Attach(t.memory, t.bin, t.bias); err != nil {
		return err
	}
	t.stats, t.heap = gostats.New(t.runtime), goheap.New(t.runtime)
	return t.heap.Why()
}

// openCoreHeap opens a core file.
func openCoreHeap(file, exe string) (*heapTarget, error) {
	core, err := corefile.Open(file)
	if err != nil {
		return nil, Usagef("", "heap: %w", err)
	}
	r := &coreReader{importer: &importer{ImportFlags: ImportFlags{Exe: exe}}, core: core}
	t := &heapTarget{closers: []io.Closer{core}}
	if err := r.open(); err != nil {
		t.close()
		return nil, err
	}
	t.bin, t.bias, t.name, t.closers = r.bin, r.bias, path.Base(r.program.Exe), append(t.closers, r.bin)
	if err := r.attach(); err != nil {
		t.close()
		return nil, err
	}
	t.runtime, t.stats, t.heap = r.runtime, r.stats, r.heap
	for _, th := range core.Threads {
		t.threads = append(t.threads, goheap.Thread(th))
	}
	return t, t.heap.Why()
}

// ownLimit is what an analysis may take: three quarters of what is free for it.
func ownLimit() sample.Bytes { return availableMemory() / 4 * 3 }

// availableMemory is what is free for this process: on the machine, and within its
// own cgroup.
func availableMemory() sample.Bytes {
	free, _ := ownFree()
	return free
}

// ownFree is availableMemory, and whether the process's own cgroup was seen.
func ownFree() (free sample.Bytes, seen bool) {
	free = machineMemory()
	h, err := cgroup.Detect("/")
	if err != nil {
		return free, false
	}
	path, err := h.Find(os.Getpid())
	if err != nil {
		return free, false
	}
	own, err := h.Open(path)
	if err != nil {
		return free, false
	}
	defer own.Close()
	var now sample.Cgroup
	if own.Read(&now) != nil {
		return free, false
	}
	if !now.Limit.OK {
		return free, true
	}
	used := now.Usage
	if now.Stat != nil {
		used = used.Sub(now.Stat.InactiveFile)
	}
	return min(free, now.Limit.V.Sub(used)), true
}

// tableRoom is what a watcher may take at a time for what it reads of one runtime: a
// quarter of what is free, so that several growths never take all of it.
func tableRoom() sample.Bytes { return min(mostTables, availableMemory()/4) }

// mostTables is the most of it: a heap of 25 GiB of the smallest spans fits.
const mostTables = 1 * sample.GiB

// machineMemory is what the machine has free for programs (/proc/meminfo,
// MemAvailable); a guess where it does not say.
func machineMemory() sample.Bytes {
	text, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemAvailable:" {
			if kb, err := strconv.ParseUint(f[1], 10, 64); err == nil {
				return sample.Bytes(kb << 10)
			}
		}
	}
	return 4 * sample.GiB
}
