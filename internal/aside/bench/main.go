// Bench measures what Highwater costs the machine and the program that it
// watches, against the floors that were promised, and writes the figures down:
//
//	go run ./internal/aside/bench -o docs/benchmarks.md
//
// All of it is measured side by side in one run of some minutes, and as ratios
// wherever there are two sides, so that a slow or a busy machine moves both. It
// needs Linux, bin/highwater, and the right to make a memory cgroup. What is
// too small to matter alone (a parser, a poll, a row) has a benchmark beside
// its code instead.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// room is what the measurements share: two programs and a directory.
type room struct {
	tool   string // bin/highwater
	target string // testdata/target, built
	dir    string // for recordings, removed at the end
	quick  bool   // try the bench itself out: a tenth of the time
}

// measurement is one thing that is measured; it may give several rows.
type measurement struct {
	name string
	run  func(*room) ([]row, error)
}

var measurements = []measurement{
	{"watching", watching},
	{"node", node},
	{"agent", agent},
	{"job", fixedJob},
	{"poll", poll},
	{"locate", locate},
	{"reading", reading},
	{"explain", explainHour},
	{"last breath", lastBreath},
	{"waking", waking},
	{"children", children},
	{"memory", memory},
	{"heap", heap},
	{"native growth", nativeGrowth},
	{"native steady", nativeSteady},
	{"native work", nativeWork},
	{"native calls", nativeCalls},
	{"native arenas", nativeArenas},
	{"beside", beside},
	{"page", page},
}

func main() {
	out := flag.String("o", "", "Markdown `file` to write (default: standard output)")
	tool := flag.String("tool", "bin/highwater", "`program` to measure")
	only := flag.String("only", "",
		"run some `measurements`, with commas between: watching, node, agent, job, poll, locate, reading, explain, \"last breath\", waking, children, memory, heap, native growth, native steady, native work, native calls, native arenas, beside, page")
	quick := flag.Bool("quick", false, "a tenth of the time, to try the bench itself: the figures mean little")
	flag.Parse()
	if err := bench(*tool, *out, *only, *quick); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(tool, out, only string, quick bool) error {
	dir, err := os.MkdirTemp("", "highwater-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := &room{dir: dir, quick: quick}
	if r.tool, err = filepath.Abs(tool); err != nil {
		return err
	}
	if r.target, err = buildTarget(dir); err != nil {
		return err
	}
	began := time.Now()
	var rows []row
	before, err := r.fixedTime()
	if err != nil {
		return err
	}
	for _, m := range measurements {
		if only != "" && !slices.Contains(strings.Split(only, ","), m.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%6s  %s\n", time.Since(began).Truncate(time.Second), m.name)
		more, err := m.run(r)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		rows = append(rows, more...)
	}
	after, err := r.fixedTime()
	if err != nil {
		return err
	}
	return write(out, rows, append(describeMachine(), machineSpeed(before, after)), time.Since(began))
}

// buildTarget builds the program that is watched, a module of its own.
func buildTarget(dir string) (string, error) {
	out := filepath.Join(dir, "target")
	build := exec.Command("go", "build", "-o", out, ".")
	build.Dir = filepath.Join("internal", "aside", "bench", "testdata", "target")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the target: %w\n%s", err, text)
	}
	return out, nil
}

// least is n, or a tenth of it where the bench itself is tried out.
func (r *room) least(n int) int {
	if r.quick {
		return max(1, n/10)
	}
	return n
}
