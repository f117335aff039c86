package cgroup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// CleanStale removes the cgroups of runs whose watcher is gone, in the places
// where Create makes them, and gives their paths. One that still has a process
// is left alone, as the program lives on when its watcher is killed; so is one
// of another pid namespace, whose pids say nothing here.
func (h *Hierarchy) CleanStale() (removed []string, err error) {
	places, err := h.places("")
	if err != nil {
		return nil, err
	}
	world := h.world()
	var errs []error
	for _, place := range places {
		dir, err := h.dir(place)
		if err != nil {
			continue
		}
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			o, ok := parseName(e.Name())
			if !ok || o.world != world || h.alive(o) {
				continue
			}
			switch err := h.removeStale(dir, e.Name(), o); {
			case err == nil:
				removed = append(removed, filepath.Join(place, e.Name()))
			case !errors.Is(err, errInUse) && !isBusy(err) && !errors.Is(err, fs.ErrNotExist):
				errs = append(errs, err)
			}
		}
	}
	return removed, errors.Join(errs...)
}

func (h *Hierarchy) alive(o owner) bool {
	start, ok := h.startOf(o.pid)
	return ok && start == o.start
}

// removeStale removes one cgroup.
func (h *Hierarchy) removeStale(parent, name string, o owner) error {
	c := &Cgroup{Path: name, Dir: filepath.Join(parent, name), h: h}
	if pids, err := c.Procs(); err != nil {
		return err
	} else if len(pids) > 0 {
		return errInUse
	}
	if err := c.rmdir(); err != nil {
		return err
	}
	if o.leaf && !hasChildren(parent) { // it shared memory out for that run alone
		return write(filepath.Join(parent, "cgroup.subtree_control"), "-memory")
	}
	return nil
}
