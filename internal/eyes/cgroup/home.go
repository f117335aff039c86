package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Home is the memory cgroup that a process is in.
type Home struct {
	*Hierarchy
	Path string // as in /proc/PID/cgroup
	// Own means that it is seen through the process's own mounts, as that of another container is, and not through ours.
	Own bool
}

// FindHome finds the memory cgroup of a process where it can be read: in the mounts of
// this process, else in those of the process itself, as those of another container in
// one PID namespace, at /proc/PID/root. root is "/" or a test directory. The error is
// fs.ErrNotExist where the process is gone, ErrNoMemory where no mount shows its
// cgroup. The root of the whole tree is given too, which in version 2 cannot be opened.
//
// Paths and mounts are both told relative to the cgroup namespace of whoever reads
// (cgroup_namespaces(7)), so that one fits the other: "/../web" in the mount of
// "/../web".
func FindHome(root string, pid int) (*Home, error) {
	process := strconv.Itoa(pid)
	var top *Home
	for _, eyes := range []struct {
		process, view string
		own           bool
	}{{"self", root, false}, {process, filepath.Join(root, "proc", process, "root"), true}} {
		all, err := detect(root, eyes.process, eyes.view)
		if err != nil {
			continue
		}
		for _, h := range all {
			path, err := h.Find(pid)
			if err == nil && h.shows(path) {
				return &Home{h, path, eyes.own}, nil
			}
			if err == nil && path == "/" && h.Base == "/" && !eyes.own {
				top = &Home{h, path, false}
			}
		}
	}
	if top != nil {
		return top, nil
	}
	if _, err := os.Stat(filepath.Join(root, "proc", process)); err != nil {
		return nil, fmt.Errorf("find the cgroup of process %d: %w", pid, err)
	}
	return nil, fmt.Errorf("find the cgroup of process %d: %w that shows it", pid, ErrNoMemory)
}

// shows says whether the cgroup's account can be read in this mount.
func (h *Hierarchy) shows(path string) bool {
	dir, err := h.dir(path)
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, h.names().usage))
	return err == nil
}

// Open opens the cgroup.
func (h *Home) Open() (*Cgroup, error) { return h.Hierarchy.Open(h.Path) }

// IsMachine says whether it is the root of the whole tree. That of version 2 has no
// account; that of a namespace of version 1 looks the same, and is told apart by the
// number that the first namespace always has (PROC_CGROUP_INIT_INO, linux/proc_ns.h).
func (h *Home) IsMachine() bool {
	ns, err := os.Readlink(filepath.Join(h.root, "proc/self/ns/cgroup"))
	return h.Version == 1 && h.Path == "/" && h.Base == "/" && (err != nil || ns == "cgroup:[4026531835]")
}

// Says is where the cgroup was found, in words.
func (h *Home) Says() string {
	eyes := "seen in " + h.Mount
	if h.Own {
		eyes = "seen through the process's own mounts, " + h.Mount
	}
	return fmt.Sprintf("%s of version %d, %s", h.Path, h.Version, eyes)
}
