package app

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const programCosts = "the Go heap's figures, and the line that allocated the memory; everything else works"

// ChecksOf say what can be read of a process, a program or a library, and what it loses
// while it is traced.
func ChecksOf(arg string) ([]check, error) {
	if pid, err := strconv.Atoi(arg); err == nil && pid > 0 {
		c, err := processCheck(pid)
		return append([]check{c}, losses(c.Name, processLoses(pid)...)...), err
	}
	path, err := findProgram(arg)
	if err != nil && gobin.IsGo(arg) {
		path, err = arg, nil // a library needs no right to be executed
	}
	if err != nil {
		return nil, err
	}
	return append([]check{programCheck(path)}, losses(path, warnings(path)...)...), nil
}

// losses are what tracing takes from a program.
func losses(name string, says ...string) (checks []check) {
	for _, s := range says {
		checks = append(checks, check{Name: name + " when it is traced", Says: s})
	}
	return checks
}

// processLoses is what tracing takes from a process.
func processLoses(pid int) []string {
	isGo := false
	if found, err := watch.OpenGo("/proc", pid); err == nil {
		isGo = found.Library == ""
		found.Close()
	}
	if takes := watch.WatchTakes(pid, isGo); takes != "" {
		return []string{takes}
	}
	return nil
}

// processCheck says what can be read of a process.
func processCheck(pid int) (check, error) {
	name, _ := procfs.Name("/proc", pid)
	c := check{Name: fmt.Sprintf("%s, pid %d", name, pid), Costs: programCosts}
	found, err := watch.OpenGo("/proc", pid)
	if errors.Is(err, procfs.ErrGone) {
		return c, Usagef("pgrep NAME shows pids", "there is no process %d", pid)
	}
	if err != nil {
		c.Says = err.Error()
		return c, nil
	}
	defer found.Close()
	rt, err := gomem.Attach(found.Memory, found.Binary, found.Bias)
	var figures sample.Runtime
	if err == nil {
		err = gostats.New(rt).Counters(&figures)
	}
	if err != nil {
		c.Says = err.Error()
		return c, nil
	}
	c.OK, c.Says = true, binarySays(found.Binary)
	if found.Library != "" {
		c.Says = found.Library + ", a Go library in a program of another language: " + c.Says
	}
	if figures.ProfileRate == 0 {
		c.Says += "; the heap profile is off (watch --enable-heap-profile)"
	}
	if len(found.Others) > 0 {
		c.Says += "; not read: the Go runtime of " + strings.Join(found.Others, ", of ")
	}
	return c, nil
}

// programCheck says what can be read of an executable.
func programCheck(path string) check {
	c := check{Name: path, Costs: programCosts}
	if found, err := exec.LookPath(path); err == nil {
		path = found
	}
	bin, err := gobin.Open(path)
	if err != nil {
		c.Says = err.Error()
		if errors.Is(err, gobin.ErrNotGo) {
			c.Says = "not a Go program (highwater reads Go libraries that it loads, nevertheless)"
		}
		return c
	}
	defer bin.Close()
	c.Says = binarySays(bin)
	if err := bin.Supported(); err != nil {
		c.Says += ": " + err.Error()
		return c
	}
	c.OK = true
	return c
}

// binarySays is how a Go executable or library was built, and how it is read.
func binarySays(bin *gobin.Binary) string {
	says := []string{bin.GoVersion, bin.Arch}
	if bin.PIE {
		says = append(says, "PIE")
	}
	if bin.CGO {
		says = append(says, "cgo")
	}
	switch {
	case bin.Supported() != nil:
	case bin.HasSymbols:
		says = append(says, "symbols present")
	default:
		says = append(says, "stripped: "+bin.FoundBy)
	}
	return strings.Join(says, ", ")
}
