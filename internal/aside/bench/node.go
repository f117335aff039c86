package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// What a watch of a node's programs may take while all of them rest.
const (
	nodePrograms    = 100
	nodeSites       = 300
	nodeAttachFloor = time.Second // of CPU
	nodeCPUFloor    = 1.0         // percent of a core
	nodeMemoryFloor = 50 * sample.MiB
)

// nodeTimes are how long after its beginning a watch is measured, when recordings sleep and
// moments are rare, and for how long. In the short bench it is still settling.
func (r *room) nodeTimes() (settle, lasts time.Duration) {
	if r.quick {
		return 40 * time.Second, 20 * time.Second
	}
	return 4 * time.Minute, time.Minute
}

// node watches a hundred programs of two builds that rest, with one watcher.
func node(r *room) (rows []row, err error) {
	names, err := r.builds()
	if err != nil {
		return nil, err
	}
	n := nodePrograms
	settle, lasts := r.nodeTimes()
	for i := range n {
		p, err := start(filepath.Join(r.dir, names[i%len(names)]), "-sites", fmt.Sprint(nodeSites), "-do", "hold")
		if err != nil {
			return nil, err
		}
		defer p.stop()
		if _, err := p.line("ready"); err != nil {
			return nil, err
		}
	}
	state := filepath.Join(r.dir, "node")
	watcher := exec.Command(r.tool, append([]string{"watch", "-q", "--at-most", fmt.Sprint(2 * n)}, names...)...)
	watcher.Env, watcher.Stderr = append(os.Environ(), "XDG_STATE_HOME="+state), os.Stderr
	if err := watcher.Start(); err != nil {
		return nil, err
	}
	p := &program{cmd: watcher}
	defer p.stop()
	attach, took, err := attachedTo(p.pid(), n, filepath.Join(state, "highwater", "*.hwm"))
	if err != nil {
		return nil, err
	}
	time.Sleep(settle)
	written, err := writtenBy(p.pid())
	if err != nil {
		return nil, err
	}
	w := &watched{}
	if err := w.observe(p.pid(), lasts); err != nil {
		return nil, err
	}
	after, err := writtenBy(p.pid())
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.pid()))
	if err != nil {
		return nil, err
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.pid()))
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d programs of two builds", n)
	return []row{
		{
			What: "`watch` attaches to " + what, Floor: fmt.Sprintf("under %s of CPU", nodeAttachFloor),
			Figure: fmt.Sprintf("%.2f s", attach.Seconds()), Pass: attach < nodeAttachFloor,
			More: fmt.Sprintf("from its start until each has its recording, %.1f s by the clock", took.Seconds()),
		},
		{
			What: "CPU of the watcher, " + what + " at rest", Floor: fmt.Sprintf("under %g %% of a core", nodeCPUFloor),
			Figure: fmt.Sprintf("%.2f %%", w.cpu), Pass: w.cpu < nodeCPUFloor,
			More: fmt.Sprintf("over %s, %s after it began; %s written an hour", units.Duration(lasts), units.Duration(settle),
				units.Size(sample.Bytes(float64(after-written)*3600/lasts.Seconds()))),
		},
		{
			What: "Resident memory of the watcher, " + what + " at rest", Floor: "under " + units.Size(nodeMemoryFloor),
			Figure: units.Size(w.resident), Pass: w.resident < nodeMemoryFloor,
			More: fmt.Sprintf("at most ever %s; %d threads, %d files", units.Size(w.peak), len(threads), len(files)),
		},
	}, nil
}

// builds makes two executables of the target, one stripped, with names that nothing else has.
func (r *room) builds() (names []string, err error) {
	for i, flags := range []string{"", "-s -w"} {
		name := fmt.Sprintf("hwnode%d-%d", i, os.Getpid())
		build := exec.Command("go", "build", "-ldflags", flags, "-o", filepath.Join(r.dir, name), ".")
		build.Dir = filepath.Join("internal", "aside", "bench", "testdata", "target")
		build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if text, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build the target: %w\n%s", err, text)
		}
		names = append(names, name)
	}
	return names, nil
}

// attachedTo waits until there are n recordings, and gives the CPU time and the time until then.
func attachedTo(pid, n int, recordings string) (cpu, took time.Duration, err error) {
	began := time.Now()
	for time.Since(began) < time.Minute {
		made, err := filepath.Glob(recordings)
		if err != nil {
			return 0, 0, err
		}
		if len(made) >= n {
			cpu, err = cpuOf(pid)
			return cpu, time.Since(began), err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return 0, 0, errors.New("not all programs were watched within a minute")
}

// writtenBy is what a process has had written to disk (proc_pid_io(5), write_bytes).
func writtenBy(pid int) (n sample.Bytes, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(b), "\nwrite_bytes: ")
	if !ok {
		return 0, errors.New("its io does not say what was written")
	}
	_, err = fmt.Sscan(rest, &n)
	return n, err
}
