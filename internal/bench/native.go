package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

const (
	faultsFloor = 1.5  // percent of a core, at 100 MB/s
	steadyFloor = 0.2  // percent of a core: what cannot be told from nothing
	noiseFloor  = 5.0  // percent of a fill's time
	pairFloor   = 1100 // ns for malloc and free with probes on both
)

// nativeTarget builds the program whose memory is C's.
func (r *room) nativeTarget() (string, error) {
	out := filepath.Join(r.dir, "native")
	build := exec.Command("go", "build", "-o", out, ".")
	build.Dir = filepath.Join("internal", "bench", "testdata", "native")
	build.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the native target: %w\n%s", err, text)
	}
	return out, nil
}

// native measures what it costs to follow native memory, side by side with heaptrack where that is
// installed. bcc's memleak needs the headers of the running kernel, and is not compared.
func native(r *room) ([]row, error) {
	target, err := r.nativeTarget()
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, does := range []struct {
		do, words string
		floor     float64
	}{{"grow", "that grows by 100 MB/s", faultsFloor}, {"steady", "whose memory is steady", steadyFloor}} {
		one, err := r.faultsRow(target, does.do, does.words, does.floor)
		if err != nil {
			return nil, err
		}
		rows = append(rows, *one)
	}
	fill, err := r.fillRow(target)
	if err != nil {
		return nil, err
	}
	pairs, err := r.pairRows(target)
	return append(append(rows, *fill), pairs...), err
}

// under is how highwater runs a program; nothing of it for "none".
func (r *room) under(how string, target ...string) []string {
	path := filepath.Join(r.dir, "native.hwm")
	_ = os.Remove(path) // of the one before
	run := []string{r.tool, "run", "-q", "--heap", "off", "-o", path}
	switch how {
	case "none":
		return target
	case "heaptrack":
		return append([]string{"heaptrack", "-o", filepath.Join(r.dir, "heaptrack")}, target...)
	case "faults":
		return append(append(run, "--"), target...)
	}
	return append(append(run, "--native="+how, "--"), target...)
}

// faultsRow compares the processor time of a program and its watcher with page faults sampled and
// without, after both have settled.
func (r *room) faultsRow(target, do, words string, floor float64) (*row, error) {
	var differ []float64
	for range r.least(5) {
		off, err := r.shareOf(r.under("off", target, "-do", do))
		if err != nil {
			return nil, err
		}
		on, err := r.shareOf(r.under("faults", target, "-do", do))
		if err != nil {
			return nil, err
		}
		differ = append(differ, on-off)
	}
	slices.Sort(differ)
	median := differ[len(differ)/2]
	return &row{What: "Page faults sampled, a program " + words, Floor: fmt.Sprintf("under %.1f %% of a core", floor), Figure: fmt.Sprintf("%.2f %%", median), Pass: median < floor,
		More: fmt.Sprintf("program and watcher, less the same with --native=off; median of %d pairs of 6 s, %.2f to %.2f %%", len(differ), differ[0], differ[len(differ)-1])}, nil
}

// shareOf is the share of a core that a watched program and its watcher take once they have settled.
func (r *room) shareOf(args []string) (float64, error) {
	p, err := start(args[0], args[1:]...)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	pid, err := p.line("ready")
	if err != nil {
		return 0, err
	}
	watched, err := strconv.Atoi(pid)
	if err != nil {
		return 0, err
	}
	defer func() { end(watched) }()
	both := func() (sum time.Duration) {
		for _, one := range []int{p.pid(), watched} {
			var took time.Duration
			if took, err = cpuOf(one); err != nil {
				return 0
			}
			sum += took
		}
		return sum
	}
	time.Sleep(2 * time.Second)
	began, before := time.Now(), both()
	time.Sleep(6 * time.Second)
	after := both()
	return 100 * float64(after-before) / float64(time.Since(began)), err
}

// end ends a program that was started for us.
func end(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill() // gone already is as good
	}
}

// fillRow compares how fast a program fills 800 MB.
func (r *room) fillRow(target string) (*row, error) {
	var ratio []float64
	for range r.least(7) {
		off, err := r.timed(r.under("off", target, "-do", "fill", "-n", "100000"))
		if err != nil {
			return nil, err
		}
		on, err := r.timed(r.under("faults", target, "-do", "fill", "-n", "100000"))
		if err != nil {
			return nil, err
		}
		ratio = append(ratio, 100*(on/off-1))
	}
	slices.Sort(ratio)
	median := ratio[len(ratio)/2]
	return &row{What: "Page faults sampled, time to fill 800 MB", Floor: fmt.Sprintf("within %.0f %%", noiseFloor), Figure: fmt.Sprintf("%+.1f %%", median), Pass: median < noiseFloor,
		More: fmt.Sprintf("the program's own processor time; median of %d pairs, %+.1f to %+.1f %%", len(ratio), ratio[0], ratio[len(ratio)-1])}, nil
}

// pairRows are what a pair of malloc and free takes, by itself and followed.
func (r *room) pairRows(target string) (rows []row, err error) {
	for _, how := range []struct{ how, words, floor string }{
		{"none", "nothing follows it", ""}, {"live", "`--native=live`", fmt.Sprintf("at most %d ns", pairFloor)}, {"heaptrack", "heaptrack", ""},
	} {
		if how.how == "heaptrack" {
			if _, err := exec.LookPath("heaptrack"); err != nil {
				continue
			}
		}
		var took []float64
		for range r.least(5) {
			one, err := r.timed(r.under(how.how, target, "-do", "pairs"))
			if err != nil {
				return nil, err
			}
			took = append(took, one)
		}
		slices.Sort(took)
		median := took[len(took)/2]
		rows = append(rows, row{What: "A pair of malloc and free of some 150 bytes, " + how.words, Floor: how.floor, Figure: fmt.Sprintf("%.0f ns", median), Pass: how.floor == "" || median <= pairFloor,
			More: fmt.Sprintf("300,000 pairs, median of %d, %.0f to %.0f ns of the program's processor time", len(took), took[0], took[len(took)-1])})
	}
	return rows, nil
}

// timed starts a program, lets it settle and begin, and is the time that it says a step took, in ns.
func (r *room) timed(args []string) (float64, error) {
	cmd := exec.Command(args[0], args[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	p, err := startAs(cmd)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	if _, err := p.line("ready"); err != nil {
		return 0, err
	}
	time.Sleep(time.Second) // its watcher reads its files
	if _, err := io.WriteString(in, "go\n"); err != nil {
		return 0, err
	}
	took, err := p.line("took")
	if err != nil {
		return 0, err
	}
	if err := p.end(); err != nil {
		return 0, err
	}
	return strconv.ParseFloat(took, 64)
}
