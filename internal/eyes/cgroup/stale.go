package cgroup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A cgroup that Create makes is called
//
//	highwater-PID-START-WORLD[-NAME]
//
// after the process that made it: its pid, its start in clock ticks since boot
// (field 22 of /proc/PID/stat), and 8 hex digits of a hash of the boot and the
// pid namespace, without which the pid says nothing.
const namePrefix = "highwater-"

// leafName is the NAME of a leaf, see share.
const leafName = "watcher"

// runName is the name of a cgroup that this process makes.
func (h *Hierarchy) runName(name string) (string, error) {
	start, ok := h.startOf(os.Getpid())
	if !ok {
		return "", errors.New("name a cgroup: this process's start cannot be read from /proc")
	}
	text := fmt.Sprintf("%s%d-%d-%s", namePrefix, os.Getpid(), start, h.world())
	if name = plain(name); name != "" {
		text += "-" + name
	}
	return text, nil
}

// plain keeps what may stand in a directory's name everywhere, 40 bytes at most.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '.':
			return r
		}
		return '-'
	}, name)
	return name[:min(len(name), 40)]
}

// world hashes what a pid is valid within.
func (h *Hierarchy) world() string {
	boot, _ := os.ReadFile(filepath.Join(h.root, "proc/sys/kernel/random/boot_id"))
	ns, _ := os.Readlink(filepath.Join(h.root, "proc/self/ns/pid"))
	sum := sha256.Sum256([]byte(string(boot) + ns))
	return hex.EncodeToString(sum[:4])
}

// startOf is field 22 of /proc/PID/stat, counted behind the command's name,
// which may hold anything.
func (h *Hierarchy) startOf(pid int) (uint64, bool) {
	b, err := os.ReadFile(filepath.Join(h.root, "proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, false
	}
	text := string(b)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return 0, false
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	return start, err == nil
}

// owner is who made a cgroup, from its name.
type owner struct {
	pid   int
	start uint64
	world string
	leaf  bool
}

func parseName(name string) (o owner, ok bool) {
	rest, ok := strings.CutPrefix(name, namePrefix)
	f := strings.SplitN(rest, "-", 4)
	if !ok || len(f) < 3 {
		return o, false
	}
	pid, err1 := strconv.Atoi(f[0])
	start, err2 := strconv.ParseUint(f[1], 10, 64)
	o = owner{pid: pid, start: start, world: f[2], leaf: len(f) == 4 && f[3] == leafName}
	return o, err1 == nil && err2 == nil && pid > 0
}

// CleanStale removes the cgroups of runs whose watcher is gone, wherever they
// are in the tree, and gives their paths. One that still has a process is left
// alone, as the program lives on when its watcher is killed; so is one of another
// pid namespace, whose pids say nothing here, and one of another user.
func (h *Hierarchy) CleanStale() (removed []string, err error) {
	var errs []error
	for _, s := range h.stale() {
		switch err := h.removeStale(s); {
		case err == nil:
			path, _ := filepath.Rel(h.Mount, s.dir)
			removed = append(removed, filepath.Join(h.Base, path))
		case !isHarmless(err):
			errs = append(errs, err)
		}
	}
	return removed, errors.Join(errs...)
}

func isHarmless(err error) bool {
	return errors.Is(err, errInUse) || isBusy(err) || isGone(err) || errors.Is(err, fs.ErrPermission)
}

// stale is a cgroup of a run whose watcher is gone.
type stale struct {
	dir  string
	leaf bool
}

// stale walks the whole tree, 30 µs a cgroup. Leaves come last: they are given
// up when nothing else is left beside them.
func (h *Hierarchy) stale() (found []stale) {
	world := h.world()
	filepath.WalkDir(h.Mount, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		o, ok := parseName(d.Name())
		if !ok {
			return nil
		}
		if o.world == world && !h.alive(o) && ours(path) {
			found = append(found, stale{dir: path, leaf: o.leaf})
		}
		return fs.SkipDir
	})
	slices.SortStableFunc(found, func(a, b stale) int {
		switch {
		case a.leaf == b.leaf:
			return 0
		case b.leaf:
			return -1
		}
		return 1
	})
	return found
}

func (h *Hierarchy) alive(o owner) bool {
	start, ok := h.startOf(o.pid)
	return ok && start == o.start
}

// removeStale removes one cgroup that has no process left.
func (h *Hierarchy) removeStale(s stale) error {
	c := &Cgroup{Path: s.dir, Dir: s.dir, h: h, files: account{dir: noFD}}
	if pids, err := c.Procs(); err != nil {
		return err
	} else if len(pids) > 0 {
		return errInUse
	}
	if err := c.rmdir(); err != nil {
		return err
	}
	if parent := filepath.Dir(s.dir); s.leaf && !hasChildren(parent) { // it shared memory out for that run alone
		return write(filepath.Join(parent, "cgroup.subtree_control"), "-memory")
	}
	return nil
}
