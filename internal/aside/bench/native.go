package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/malloc"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	faultsFloor = 1.5  // percent of a core, at 100 MB/s
	steadyFloor = 0.2  // percent of a core: what cannot be told from nothing
	arenasFloor = 300  // ms for 250 MB
	pairFloor   = 1100 // ns for malloc and free with probes on both
)

// nativeTarget builds the program whose memory is C's.
func (r *room) nativeTarget() (string, error) {
	return r.buildWithC("native", filepath.Join("internal", "aside", "bench", "testdata", "native"))
}

func (r *room) buildWithC(name, source string) (string, error) {
	out := filepath.Join(r.dir, name)
	build := exec.Command("go", "build", "-o", out, ".")
	build.Dir = source
	build.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", source, err, text)
	}
	return out, nil
}

// nativeGrowth and nativeSteady measure what it costs to sample page faults.
func nativeGrowth(r *room) ([]row, error) {
	return r.faultsRows("grow", "that grows by 100 MB/s", faultsFloor)
}

func nativeSteady(r *room) ([]row, error) {
	return r.faultsRows("steady", "whose memory is steady", steadyFloor)
}

func (r *room) faultsRows(do, words string, floor float64) ([]row, error) {
	target, err := r.nativeTarget()
	if err != nil {
		return nil, err
	}
	one, err := r.faultsRow(target, do, words, floor)
	if err != nil {
		return nil, err
	}
	return []row{*one}, nil
}

// nativeWork measures how fast a program is whose page faults are sampled.
func nativeWork(r *room) (rows []row, err error) {
	target, err := r.nativeTarget()
	if err != nil {
		return nil, err
	}
	for _, one := range []func(string) (*row, error){r.workRow, r.fillRow} {
		more, err := one(target)
		if err != nil {
			return nil, err
		}
		rows = append(rows, *more)
	}
	return rows, nil
}

// nativeCalls measures how fast a program is whose native memory is followed, side by side with heaptrack
// and bcc's memleak where they are installed.
func nativeCalls(r *room) ([]row, error) {
	target, err := r.nativeTarget()
	if err != nil {
		return nil, err
	}
	var rows []row
	pairs, err := r.pairRows(target)
	if err != nil {
		return nil, err
	}
	rows = append(rows, pairs...)
	for _, one := range []func(string) (*row, error){r.memleakRow, r.refusalRow} {
		more, err := one(target)
		if err != nil {
			return nil, err
		}
		rows = append(rows, *more)
	}
	return rows, nil
}

// nativeArenas measures how long it takes to read what C's allocator says of itself.
func nativeArenas(r *room) ([]row, error) {
	one, err := r.arenasRow()
	if err != nil {
		return nil, err
	}
	return []row{*one}, nil
}

// refusalRow makes more calls a second than are followed.
func (r *room) refusalRow(target string) (*row, error) {
	cmd := r.under("live", target, "-do", "pairs", "-n", "12000000")
	took, err := r.timed(cmd)
	if err != nil {
		return nil, err
	}
	ended, err := exec.Command(r.tool, "explain", "--json", "--at", "last", filepath.Join(r.dir, "native.hwm")).Output()
	if err != nil {
		return nil, fmt.Errorf("explain the run: %w", err)
	}
	var answer struct {
		NativeLive struct {
			Ended string `json:"ended"`
		} `json:"native_live"`
	}
	if err := json.Unmarshal(ended, &answer); err != nil {
		return nil, err
	}
	let := answer.NativeLive.Ended != ""
	figure := "followed to the end"
	if let {
		figure = "let go"
	}
	return &row{What: "`--native=live`, a program that calls malloc and free as fast as it can", Floor: "let go above 250,000 calls a second", Figure: figure,
		Pass: let,
		More: fmt.Sprintf("12,000,000 pairs, %.0f ns each over the whole run: %s", took, answer.NativeLive.Ended)}, nil
}

// arenasRow reads glibc's arenas of 243 MB, as at a kill.
func (r *room) arenasRow() (*row, error) {
	target, err := r.buildWithC("arenas", filepath.Join("internal", "eyes", "malloc", "testdata", "target"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(target, "arenas")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	p, err := startAs(cmd)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	if !p.lines.Scan() { // what mallinfo2(3) says, once it is full
		return nil, fmt.Errorf("%s said nothing", target)
	}
	watched := p.pid()
	mem, err := procfs.OpenMemory("/proc", watched)
	if err != nil {
		return nil, err
	}
	defer func() { _ = mem.Close() }()
	var took []float64
	var seen *sample.Malloc
	for range r.least(20) {
		began := time.Now()
		if seen, err = malloc.OfProcess(new(procfs.Mapper), mem, "/proc", watched, began.Add(time.Minute)); err != nil {
			return nil, err
		}
		took = append(took, float64(time.Since(began).Microseconds())/1000)
	}
	first := took[0] // with all that is read for the first time, as at a kill
	slices.Sort(took)
	worst := took[len(took)-1]
	return &row{What: "glibc's arenas of 243 MB, every block", Floor: fmt.Sprintf("under %d ms, and within a kill's half second", arenasFloor),
		Figure: fmt.Sprintf("%.0f ms", took[len(took)/2]), Pass: worst < arenasFloor,
		More: fmt.Sprintf("median of %d, the first %.0f ms, worst %.0f ms; %d arenas, %.0f MB in use, %.0f MB free", len(took), first, worst, len(seen.Arenas),
			float64(seen.InUse)/1e6, float64(seen.Free)/1e6)}, nil
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
	return &row{What: "Page faults sampled, a program " + words, Floor: fmt.Sprintf("under %.1f %% of a core", floor), Figure: fmt.Sprintf("%.2f %%", median),
		Pass: median < floor,
		More: fmt.Sprintf("program and watcher, less the same with --native=off; median of %d pairs of 6 s, %.2f to %.2f %%", len(differ), differ[0],
			differ[len(differ)-1])}, nil
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

// workRow compares what a program takes for a fixed job in which its memory grows by 100 MB/s; fillRow for
// nothing but growth, as fast as it can.
func (r *room) workRow(target string) (*row, error) {
	off, on, err := r.filled(target, "work", "20000", r.least(12))
	if err != nil {
		return nil, err
	}
	one := jobRow("", off, on)
	one.What, one.Floor = "Page faults sampled, a program's job that writes 100 MB/s", "within noise"
	one.More = fmt.Sprintf("its processor time for 164 MB, with and without: median %.1f µs a block (%.1f to %.1f) against %.1f µs (%.1f to %.1f), n = %d each, p = %.3f",
		median(on)/1000, on[0]/1000, on[len(on)-1]/1000, median(off)/1000, off[0]/1000, off[len(off)-1]/1000, len(on), sameP(off, on))
	return &one, nil
}

func (r *room) fillRow(target string) (*row, error) {
	off, on, err := r.filled(target, "fill", "100000", r.least(5))
	if err != nil {
		return nil, err
	}
	return &row{What: "Page faults sampled, 800 MB written as fast as it goes", Figure: fmt.Sprintf("%.3f x", median(on)/median(off)), Pass: true,
		More: fmt.Sprintf("the program's processor time, with and without: median %.2f µs for 8 KiB (%.2f to %.2f) against %.2f µs (%.2f to %.2f), n = %d each",
			median(on)/1000, on[0]/1000, on[len(on)-1]/1000, median(off)/1000, off[0]/1000, off[len(off)-1]/1000, len(on))}, nil
}

// filled is what a step takes in so many pairs of runs, without page faults sampled and with, in ns.
func (r *room) filled(target, do, n string, pairs int) (off, on []float64, err error) {
	for range pairs {
		for _, how := range []struct {
			how string
			to  *[]float64
		}{{"off", &off}, {"faults", &on}} {
			one, err := r.timed(r.under(how.how, target, "-do", do, "-n", n))
			if err != nil {
				return nil, nil, err
			}
			*how.to = append(*how.to, one)
		}
	}
	return off, on, nil
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
		rows = append(rows, row{What: "A pair of malloc and free of some 150 bytes, " + how.words, Floor: how.floor, Figure: fmt.Sprintf("%.0f ns", median),
			Pass: how.floor == "" || median <= pairFloor,
			More: fmt.Sprintf("300,000 pairs, median of %d, %.0f to %.0f ns of the program's processor time", len(took), took[0], took[len(took)-1])})
	}
	return rows, nil
}

// timed starts a program, lets it settle and begin, and is the time that it says a step took, in ns.
func (r *room) timed(args []string) (float64, error) { return r.timedWith(nil, args) }

// timedWith has another program follow it first, which is ended afterwards.
func (r *room) timedWith(follow func(pid int) (*program, error), args []string) (float64, error) {
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
	if follow != nil {
		other, err := follow(p.pid())
		if err != nil {
			return 0, err
		}
		defer other.stop()
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
