package symptom

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// group is a memory cgroup of either version.
type group struct {
	path string
	v    names
}

// names are the files and keys of one version.
// v1: Documentation/admin-guide/cgroup-v1/memory.rst, v2: cgroup-v2.rst.
type names struct {
	limit, usage, peak           string
	anon, file, refaults         string // keys of memory.stat
	hitsIn, hits, killsIn, kills string // files, and keys in them; no key: the file is one number
}

var (
	version1 = names{limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", peak: "memory.max_usage_in_bytes",
		anon: "total_rss", file: "total_cache", refaults: "total_workingset_refault_file",
		hitsIn: "memory.failcnt", killsIn: "memory.oom_control", kills: "oom_kill"}
	version2 = names{limit: "memory.max", usage: "memory.current", peak: "memory.peak",
		anon: "anon", file: "file", refaults: "workingset_refault_file",
		hitsIn: "memory.events", hits: "max", killsIn: "memory.events", kills: "oom_kill"}
)

// newGroup makes a child of this process's own cgroup.
func newGroup(limit uint64) (*group, error) {
	parent, v, err := ownGroup()
	if err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(parent, "cases-")
	if err != nil {
		return nil, fmt.Errorf("make a cgroup (root or a delegated subtree is needed): %w", err)
	}
	g := &group{path: path, v: v}
	if limit == 0 {
		return g, nil
	}
	if err := os.WriteFile(filepath.Join(path, v.limit), []byte(strconv.FormatUint(limit, 10)), 0o644); err != nil {
		g.remove()
		return nil, fmt.Errorf("limit a cgroup: %w", err)
	}
	return g, nil
}

// ownGroup finds the memory controller in /proc/self/cgroup: "4:memory:/a/b"
// is version 1's, "0::/a/b" version 2's where that has it.
func ownGroup() (string, names, error) {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", names{}, err
	}
	two := ""
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(f) == 3 && f[1] == "memory":
			return filepath.Join("/sys/fs/cgroup/memory", f[2]), version1, nil
		case len(f) == 3 && f[0] == "0":
			two = filepath.Join("/sys/fs/cgroup", f[2])
		}
	}
	// A process may not stand beside child cgroups in version 2: the child goes beside us.
	if _, err := os.Stat(filepath.Join(two, "memory.current")); two != "" && err == nil {
		return filepath.Dir(two), version2, nil
	}
	return "", names{}, fmt.Errorf("no memory cgroup in /proc/self/cgroup: %w", errors.ErrUnsupported)
}

func (g *group) procs() string { return filepath.Join(g.path, "cgroup.procs") }

func (g *group) usage() uint64     { return g.value(g.v.usage, "") }
func (g *group) peak() uint64      { return g.value(g.v.peak, "") }
func (g *group) limitHits() uint64 { return g.value(g.v.hitsIn, g.v.hits) }
func (g *group) kills() uint64     { return g.value(g.v.killsIn, g.v.kills) }

func (g *group) refaults() uint64 { return g.value("memory.stat", g.v.refaults) }

func (g *group) stat() (anon, file uint64) {
	b, _ := os.ReadFile(filepath.Join(g.path, "memory.stat"))
	return field(b, g.v.anon), field(b, g.v.file)
}

// value reads a file of one number, or the number after a key.
func (g *group) value(file, key string) uint64 {
	b, _ := os.ReadFile(filepath.Join(g.path, file))
	if key == "" {
		n, _ := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64)
		return n
	}
	return field(b, key)
}

// field is the number after key in lines of "key number".
func field(b []byte, key string) uint64 {
	for line := range bytes.Lines(b) {
		if k, v, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" ")); ok && string(k) == key {
			n, _ := strconv.ParseUint(string(v), 10, 64)
			return n
		}
	}
	return 0
}

// remove removes the cgroup when its last process has ended: children of a
// program that was killed take a moment. Those that stay are killed, which is
// an error.
func (g *group) remove() error {
	for range 500 { // 10 s
		err := os.Remove(g.path)
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	b, err := os.ReadFile(g.procs())
	if err != nil {
		return err
	}
	left := strings.Fields(string(b))
	for _, pid := range left {
		if n, err := strconv.Atoi(pid); err == nil && n > 0 {
			unix.Kill(n, unix.SIGKILL)
		}
	}
	return fmt.Errorf("processes %v of its cgroup did not end, and were killed", left)
}
