package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/units"
)

// What an agent may take on a node of a hundred programs that rest.
const (
	agentCPUFloor     = 1.0 // percent of a core
	agentMemoryFloor  = 50_000_000
	agentWrittenFloor = 50_000 // bytes a second
	agentThreads      = 10
)

// agentNode runs programs of two builds and becomes the agent that watches them, in a PID namespace of its own: an
// agent watches all that it sees.
const agentNode = `
for n in $(seq $((PROGRAMS / 2))); do "$ONE" -sites "$SITES" -do hold >/dev/null & "$OTHER" -sites "$SITES" -do hold >/dev/null & done
exec "$HW" agent --store "$STORE" --spool "$DIR/spool" --recordings "$DIR/recordings" --heap-profile on --tenant bench --node bench 2>"$DIR/said"
`

// agent measures an agent once its programs rest. What it stores goes to a server that takes everything.
func agent(r *room) (rows []row, err error) {
	names, err := r.builds()
	if err != nil {
		return nil, err
	}
	store := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { _, _ = io.Copy(io.Discard, q.Body) }))
	defer store.Close()
	dir := filepath.Join(r.dir, "agent")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	cmd := exec.Command("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", agentNode)
	cmd.Env = append(os.Environ(), "HW="+r.tool, "DIR="+dir, "STORE="+store.URL+"/highwater", "ONE="+filepath.Join(r.dir, names[0]),
		"OTHER="+filepath.Join(r.dir, names[1]), fmt.Sprint("PROGRAMS=", nodePrograms), fmt.Sprint("SITES=", nodeSites))
	node, err := startAs(cmd)
	if err != nil {
		return nil, err
	}
	defer node.stop()
	settle, lasts := r.nodeTimes()
	time.Sleep(settle)
	pid, err := onlyChild(node.pid())
	if err != nil {
		return nil, err
	}
	w, written, err := observeWritten(pid, lasts)
	if err != nil {
		return nil, err
	}
	anonymous, err := figure(pid, "smaps_rollup", "Anonymous")
	if err != nil {
		return nil, err
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil, err
	}
	kept, err := filepath.Glob(filepath.Join(dir, "recordings", "*.hwm"))
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d programs of two builds at rest", nodePrograms)
	return []row{
		{What: "CPU of an agent, " + what, Floor: fmt.Sprintf("under %g %% of a core", agentCPUFloor), Figure: fmt.Sprintf("%.2f %%", w.cpu),
			Pass: w.cpu < agentCPUFloor, More: fmt.Sprintf("over %s, %s after it began", units.Duration(lasts), units.Duration(settle))},
		{What: "Anonymous memory of an agent, " + what, Floor: "under 50 MB", Figure: fmt.Sprintf("%.1f MB", float64(anonymous)/1e6),
			Pass: anonymous < agentMemoryFloor, More: "resident " + units.Size(w.resident) + ", at most ever " + units.Size(w.peak)},
		{What: "Written to disk by an agent, " + what, Floor: "under 50 kB/s", Figure: fmt.Sprintf("%.1f kB/s", written/1e3),
			Pass: written < agentWrittenFloor, More: fmt.Sprintf("%d recordings", len(kept))},
		{What: "Threads of an agent, " + what, Floor: fmt.Sprintf("at most %d", agentThreads), Figure: strconv.Itoa(len(threads)),
			Pass: len(threads) <= agentThreads},
	}, nil
}

// observeWritten takes the figures of a process, and the bytes a second that it wrote.
func observeWritten(pid int, lasts time.Duration) (w watched, written float64, err error) {
	before, err := writtenBy(pid)
	if err != nil {
		return w, 0, err
	}
	if err := w.observe(pid, lasts); err != nil {
		return w, 0, err
	}
	after, err := writtenBy(pid)
	return w, float64(after.Sub(before)) / lasts.Seconds(), err
}

// onlyChild is the child of a process that has one.
func onlyChild(pid int) (int, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		return 0, err
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(b)))
	return child, err
}
