package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	locateFloor  = 50 * time.Millisecond
	figuresFloor = 200 * time.Microsecond
	attachFloor  = 100 * time.Millisecond
	manyFloor    = 25 * time.Millisecond
	manySites    = 100_000
)

// medianOf does something as often as asked for and gives the median and the
// longest time.
func medianOf(n int, do func() error) (middle, worst time.Duration, err error) {
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		if err := do(); err != nil {
			return 0, 0, err
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[n/2], took[n-1], nil
}

// locate opens a large stripped program as at attach: build information, the
// function table, and where the runtime's variables lie.
func locate(r *room) ([]row, error) {
	exe := filepath.Join(r.dir, "large")
	if err := buildLarge(exe); err != nil {
		return nil, err
	}
	info, err := os.Stat(exe)
	if err != nil {
		return nil, err
	}
	foundBy := ""
	middle, worst, err := medianOf(r.least(50), func() error {
		bin, err := gobin.Open(exe)
		if err != nil {
			return err
		}
		defer bin.Close()
		foundBy = bin.FoundBy
		return bin.Supported()
	})
	if err != nil {
		return nil, err
	}
	return []row{{
		What: "Finding the runtime's variables in a stripped program", Floor: "under 50 ms", Figure: milliseconds(middle), Pass: middle < locateFloor,
		More: fmt.Sprintf("%.0f MB, by %s; wall time, median of %d, worst %s", float64(info.Size())/1e6, foundBy, r.least(50), milliseconds(worst)),
	}}, nil
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1e3) }

// buildLarge makes a stripped program of some 100 MB from packages that are
// generated: 100,000 functions and their tables, and data. The go command's cache
// has all but the link from the second time on.
func buildLarge(exe string) error {
	dir, err := os.MkdirTemp("", "highwater-large-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	const packages, functions, data = 50, 2000, 80 << 20
	main := "package main\n\nimport (\n\t_ \"embed\"\n"
	calls := ""
	for i := range packages {
		name := fmt.Sprintf("part%02d", i)
		main += fmt.Sprintf("\t%q\n", "large/"+name)
		calls += "\tsum += " + name + ".Sum(sum)\n"
		if err := writePart(filepath.Join(dir, name), name, functions); err != nil {
			return err
		}
	}
	main += ")\n\n//go:embed data\nvar data string\n\nfunc main() {\n\tsum := len(data)\n" + calls + "\tprintln(sum)\n\tselect {}\n}\n"
	for name, text := range map[string][]byte{
		"go.mod": []byte("module large\n\ngo 1.26\n"), "main.go": []byte(main), "data": make([]byte, data),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", exe, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build a large program: %w\n%s", err, text)
	}
	return nil
}

// writePart generates a package of so many functions, which all are used.
func writePart(dir, name string, functions int) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, name+".go"))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintf(w,
		"package %s\n\nfunc Sum(n int) int {\n\tfor _, f := range all {\n\t\tn += f(n, %q)\n\t}\n\treturn n\n}\n\nvar all = [...]func(int, string) int{", name, name)
	for i := range functions {
		fmt.Fprintf(w, "f%d, ", i)
	}
	fmt.Fprint(w, "}\n")
	for i := range functions {
		fmt.Fprintf(w, "\nfunc f%d(n int, s string) int {\n\tif n > %d {\n\t\treturn f%d(n-len(s), s)\n\t}\n\treturn n * %d\n}\n", i, i, i, i)
	}
	return errors.Join(w.Flush(), f.Close())
}

// reading measures what a watch reads of a program that holds many allocation
// sites: the figures of a tick, the profile against the program's own endpoint and
// against a core, and how long it takes to attach.
func reading(r *room) ([]row, error) {
	many := manySites
	if r.quick {
		many /= 10
	}
	p, addr, err := hold(r, many)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	runtime, err := attachTo(p.pid(), r.target)
	if err != nil {
		return nil, err
	}
	stats := gostats.New(runtime)
	var figures sample.Runtime
	tick, worst, err := medianOf(r.least(5000), func() error { return stats.Counters(&figures) })
	if err != nil {
		return nil, err
	}
	rows := []row{{
		What: "The Go runtime's figures, one reading", Floor: "under 200 µs", Figure: fmt.Sprintf("%.0f µs", tick.Seconds()*1e6), Pass: tick < figuresFloor,
		More: fmt.Sprintf("wall time, median of %d, worst %s", r.least(5000), worst.Round(time.Microsecond)),
	}}
	attached, err := attachRow(r, p.pid())
	if err != nil {
		return nil, err
	}
	rows = append(rows, attached)
	profile := &sample.HeapProfile{}
	if err := stats.Profile(profile); err != nil {
		return nil, err
	}
	read := func() error { return stats.Profile(profile) }
	fetch := func() error { return get("http://" + addr + "/debug/pprof/heap") }
	more, err := against(r, p.pid(), read, fetch, func() int { return len(profile.Counts) })
	return append(rows, more...), err
}

// attachRow is from a pid to the first figures, as watch attaches.
func attachRow(r *room, pid int) (row, error) {
	n := r.least(100)
	middle, worst, err := medianOf(n, func() error {
		source, err := watch.New(watch.Options{Narrow: true})
		if err != nil {
			return err
		}
		defer source.Close()
		_, err = source.Attach(pid)
		return err
	})
	return row{
		What: "`watch` attaches to a running program", Floor: "under 100 ms", Figure: milliseconds(middle), Pass: middle < attachFloor,
		More: fmt.Sprintf("and detaches; wall time, median of %d, worst %s", n, milliseconds(worst)),
	}, err
}

// against compares a poll with a fetch and with a core, side by side.
func against(r *room, pid int, read, fetch func() error, sites func() int) ([]row, error) {
	var idle, polls, fetches cost
	var cores []time.Duration
	for i := range r.least(10) {
		for _, m := range []struct {
			c    *cost
			do   func() error
			many int
		}{{&idle, func() error { time.Sleep(10 * time.Millisecond); return nil }, 20}, {&polls, read, 50}, {&fetches, fetch, 1}} {
			if err := m.c.add(pid, m.many, m.do); err != nil {
				return nil, err
			}
		}
		if took, err := gcore(pid, filepath.Join(r.dir, fmt.Sprint("core", i))); err != nil {
			return nil, err
		} else if took > 0 {
			cores = append(cores, took)
		}
	}
	polled, fetched := polls.net(idle), fetches.net(idle)
	each := polled.Round(100 * time.Microsecond)
	rows := []row{
		{What: fmt.Sprintf("A poll of the heap profile, %d sites", sites()), Floor: "under 25 ms of CPU", Figure: milliseconds(polled), Pass: polled < manyFloor,
			More: fmt.Sprintf("of both sides together, mean of %d; none of it in the program", polls.turns)},
		{What: "The same against /debug/pprof/heap", Figure: fmt.Sprintf("%.0f x cheaper", float64(fetched)/float64(polled)), Pass: true,
			More: fmt.Sprintf("%s a poll, %s a fetch, which is not decoded", each, fetched.Round(time.Millisecond))},
	}
	if len(cores) > 0 {
		slices.Sort(cores)
		took := cores[len(cores)/2]
		rows = append(rows, row{What: "The same against gcore", Figure: fmt.Sprintf("%.0f x cheaper", float64(took)/float64(polled)), Pass: true,
			More: fmt.Sprintf("%s of CPU for a core, which stops the program as long and is not read; median of %d", took.Round(time.Millisecond), len(cores))})
	}
	return rows, nil
}

// gcore has gdb write a core and gives the CPU time that it took; 0 where there is
// no gdb.
func gcore(pid int, path string) (time.Duration, error) {
	tool, err := exec.LookPath("gcore")
	if err != nil {
		return 0, nil
	}
	c := exec.Command(tool, "-o", path, strconv.Itoa(pid))
	if text, err := c.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("gcore: %w\n%s", err, text)
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime(), os.Remove(fmt.Sprintf("%s.%d", path, pid))
}
