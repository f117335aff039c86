package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func (a *asked) highwater() (*answered, error) {
	return a.askHighwater(strconv.Itoa(a.program.pid()), "--max-stop", "1m")
}

func (a *asked) highwaterOfCore() (*answered, error) {
	if a.core == "" {
		return nil, fmt.Errorf("there is no core")
	}
	return a.askHighwater(a.core)
}

func (a *asked) askHighwater(args ...string) (*answered, error) {
	e, err := run(besideLimit, a.tool, append([]string{"heap", "--json"}, args...)...)
	if err != nil {
		return nil, err
	}
	var ans struct {
		Live uint64 `json:"live_bytes"`
	}
	err = json.Unmarshal(e.output, &ans)
	return &answered{took: e.took, peak: e.peak, live: ans.Live, says: "holders, retained sizes, types and allocating lines"}, err
}

// gcore has gdb write a core, if there is room for it: a core has what is
// mapped and reserved, too.
func (a *asked) gcore() (*answered, error) {
	tool, err := exec.LookPath("gcore")
	if err != nil {
		return nil, err
	}
	if err := roomFor(a.dir, 2*sample.Bytes(a.bytes)+2*sample.GiB); err != nil {
		return nil, err
	}
	e, err := run(besideLimit, tool, "-o", strings.TrimSuffix(a.coreFile(), filepath.Ext(a.coreFile())), strconv.Itoa(a.program.pid()))
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(a.coreFile())
	if err != nil {
		return nil, err
	}
	a.core = a.coreFile()
	return &answered{took: e.took, says: fmt.Sprintf("a core of %.1f GB, which is still to be read", float64(info.Size())/1e9)}, nil
}

// roomFor says whether a file of that size fits into a directory.
func roomFor(dir string, size sample.Bytes) error {
	var at syscall.Statfs_t
	if err := syscall.Statfs(dir, &at); err != nil {
		return err
	}
	if free := sample.Bytes(at.Bavail) * sample.Bytes(at.Bsize); free < size {
		return fmt.Errorf("a core may take %.1f GB, and %.1f GB are free in %s", float64(size)/1e9, float64(free)/1e9, dir)
	}
	return nil
}

// viewcore is asked for its histogram of types; what it calls live is in another of
// its answers.
func (a *asked) viewcore() (*answered, error) {
	tool, version, err := installed("viewcore")
	if err != nil {
		return nil, err
	}
	if a.core == "" {
		return nil, fmt.Errorf("there is no core")
	}
	e, err := run(besideLimit, tool, a.core, "--exe", a.target, "histogram")
	if err != nil {
		return nil, fmt.Errorf("histogram: %w", err)
	}
	breakdown, err := run(besideLimit, tool, a.core, "--exe", a.target, "breakdown")
	if err != nil {
		return nil, fmt.Errorf("breakdown: %w", err)
	}
	live, err := liveIn(breakdown.output)
	return &answered{took: e.took, peak: e.peak, live: live, says: "types alone; " + version}, err
}

// liveIn finds what viewcore calls live, in a table of names, bytes and shares.
func liveIn(breakdown []byte) (uint64, error) {
	for line := range bytes.Lines(breakdown) {
		if f := strings.Fields(string(line)); len(f) >= 2 && f[0] == "live" {
			return strconv.ParseUint(f[1], 10, 64)
		}
	}
	return 0, fmt.Errorf("breakdown does not say what is live")
}

func (a *asked) goref() (*answered, error) {
	tool, version, err := installed("grf")
	if err != nil {
		return nil, err
	}
	out := filepath.Join(a.dir, "grf.out")
	defer os.Remove(out)
	e, err := run(besideLimit, tool, "attach", strconv.Itoa(a.program.pid()), "-o", out)
	if err != nil {
		return nil, err
	}
	live, err := sumOf(out, "inuse_space")
	return &answered{took: e.took, peak: e.peak, live: live, says: "paths by which each object was reached first; " + version}, err
}

// sumOf adds up one kind of value in a pprof file.
func sumOf(path, kind string) (sum uint64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return 0, err
	}
	for i, t := range p.SampleType {
		for _, s := range p.Sample {
			if t.Type == kind {
				sum += uint64(s.Value[i])
			}
		}
	}
	return sum, nil
}

// installed finds a tool on PATH, and says which version it is.
func installed(name string) (path, version string, err error) {
	if path, err = exec.LookPath(name); err != nil {
		return "", "", err
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	return path, name + " " + info.Main.Version, nil
}
