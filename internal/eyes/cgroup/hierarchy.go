package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNoMemory says that no mounted hierarchy accounts memory.
var ErrNoMemory = errors.New("no mounted cgroup hierarchy has the memory controller")

// Hierarchy is the tree of cgroups that accounts memory on a system.
type Hierarchy struct {
	Version int    // 1 or 2
	Mount   string // directory of its mount, the root given to Detect included
	Base    string // cgroup at Mount: "/", or a deeper one where a container sees only its part
	root    string
}

// Detect finds the hierarchy that accounts memory in root/proc/self/mountinfo;
// root is "/" or a test directory. On a hybrid system, with both versions
// mounted, it is the one that has the controller. The error is ErrNoMemory where
// none has.
func Detect(root string) (*Hierarchy, error) {
	all, err := detect(root, "self", root)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// detect finds the hierarchies that account memory in the mounts of a process, "self"
// or a pid, whose root directory is seen at view. There is one at least.
func detect(root, process, view string) (all []*Hierarchy, err error) {
	b, err := os.ReadFile(filepath.Join(root, "proc", process, "mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("find the memory cgroups: %w", err)
	}
	for _, m := range parseMounts(string(b)) {
		h := &Hierarchy{Version: m.version, Mount: filepath.Join(view, m.point), Base: m.base, root: root}
		if h.Version == 1 || hasWord(filepath.Join(h.Mount, "cgroup.controllers"), "memory") {
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		return nil, ErrNoMemory
	}
	return all, nil
}

// mount is a line of mountinfo that may hold the memory controller.
type mount struct {
	version     int
	base, point string
}

// parseMounts gives the mounts of the memory controller, version 1 before 2 and
// whole trees before parts of them. A line reads (proc_pid_mountinfo(5))
//
//	35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
func parseMounts(text string) []mount {
	var found []mount
	for line := range strings.Lines(text) {
		head, tail, ok := strings.Cut(line, " - ")
		f, g := strings.Fields(head), strings.Fields(tail)
		if !ok || len(f) < 6 || len(g) < 3 {
			continue
		}
		m := mount{base: unescape(f[3]), point: unescape(f[4])}
		switch {
		case g[0] == "cgroup" && slices.Contains(strings.Split(g[2], ","), "memory"):
			m.version = 1
		case g[0] == "cgroup2":
			m.version = 2
		default:
			continue
		}
		found = append(found, m)
	}
	slices.SortStableFunc(found, func(a, b mount) int {
		if a.version != b.version {
			return a.version - b.version
		}
		return len(a.base) - len(b.base)
	})
	return found
}

// unescape undoes the octal escapes of mountinfo for space, tab, newline and
// backslash.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// hasWord says whether the file at path has that word, as cgroup.controllers has.
func hasWord(path, word string) bool {
	b, err := os.ReadFile(path)
	return err == nil && slices.Contains(strings.Fields(string(b)), word)
}

// Find gives the path of the memory cgroup of a process, from
// /proc/PID/cgroup. The error is fs.ErrNotExist where the process is gone.
func (h *Hierarchy) Find(pid int) (string, error) {
	b, err := os.ReadFile(filepath.Join(h.root, "proc", strconv.Itoa(pid), "cgroup"))
	if err != nil {
		return "", fmt.Errorf("find the cgroup of process %d: %w", pid, err)
	}
	path, ok := parseMembership(string(b), h.Version)
	if !ok {
		return "", fmt.Errorf("find the cgroup of process %d: %w", pid, ErrNoMemory)
	}
	return path, nil
}

// parseMembership finds the memory line of /proc/PID/cgroup: "4:memory:/a" in
// version 1, "0::/a" in version 2 (cgroups(7)). A removed cgroup has " (deleted)"
// behind its path, which is left there: no directory has that name.
func parseMembership(text string, version int) (string, bool) {
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) < 3 || !strings.HasPrefix(f[2], "/") {
			continue
		}
		v2 := f[0] == "0" && f[1] == ""
		if version == 2 && v2 || version == 1 && slices.Contains(strings.Split(f[1], ","), "memory") {
			return f[2], true
		}
	}
	return "", false
}

// clean turns a directory of the mount into the path of its cgroup and leaves a
// path as it is.
//
// A path outside of this process's cgroup namespace begins with "/.."
// (cgroup_namespaces(7)), which is left there.
func (h *Hierarchy) clean(path string) string {
	if strings.HasPrefix(path, "/..") {
		return path
	}
	path = filepath.Clean("/" + path)
	if rest, ok := cutDir(path, filepath.Clean(h.Mount)); ok {
		return filepath.Join(h.Base, rest)
	}
	return path
}

// dir is the directory of the cgroup of that path.
func (h *Hierarchy) dir(path string) (string, error) {
	rest, ok := cutDir(path, h.Base)
	if !ok || strings.Contains(rest, "/..") {
		return "", fmt.Errorf("%s is outside of %s, the part of the tree that is mounted here", path, h.Base)
	}
	return filepath.Join(h.Mount, rest), nil
}

// cutDir cuts the directory prefix off path: "/a/b" less "/a" is "/b".
func cutDir(path, prefix string) (string, bool) {
	if prefix == "/" {
		return path, true
	}
	rest, ok := strings.CutPrefix(path, prefix)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// names are the files of a version's account.
type names struct {
	usage, peak, limit, stat, events string
	kernel, failcnt, swapFailcnt     string // v1
}

func (h *Hierarchy) names() names {
	if h.Version == 2 {
		return names{usage: "memory.current", peak: "memory.peak", limit: "memory.max", stat: "memory.stat", events: "memory.events"}
	}
	return names{
		usage: "memory.usage_in_bytes", peak: "memory.max_usage_in_bytes", limit: "memory.limit_in_bytes",
		stat: "memory.stat", events: "memory.oom_control",
		// A charge meets the limit of memory and swap together first
		// (mm/memcontrol.c, try_charge_memcg): where both limits are equal,
		// memory.failcnt stays 0 and memory.memsw.failcnt grows - in Linux 6.18
		// neither does.
		kernel: "memory.kmem.usage_in_bytes", failcnt: "memory.failcnt", swapFailcnt: "memory.memsw.failcnt",
	}
}
