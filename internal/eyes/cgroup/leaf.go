package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// share lets a cgroup of version 2 hand its memory controller to its children.
// One with processes cannot, the root excepted; if we are its only process, we
// move into a leaf below it first.
func (h *Hierarchy) share(path, dir string) (*leaf, error) {
	control := filepath.Join(dir, "cgroup.subtree_control")
	if hasWord(control, "memory") {
		return nil, nil
	}
	if !hasWord(filepath.Join(dir, "cgroup.controllers"), "memory") {
		return nil, fmt.Errorf("%s has no memory controller to share", dir)
	}
	first := write(control, "+memory")
	if first == nil {
		return nil, nil
	}
	own, err := h.Find(os.Getpid())
	if err != nil || own != path || !alone(dir) {
		return nil, fmt.Errorf("%w (a cgroup with processes cannot share its memory controller out)", first)
	}
	return h.makeLeaf(dir)
}

// alone says whether we are the only process of the cgroup.
func alone(dir string) bool {
	pids, err := readProcs(dir)
	return err == nil && len(pids) == 1 && pids[0] == os.Getpid()
}

// leaf is a cgroup that this process moved into, below the one it was in, so
// that this one can share its memory controller out.
type leaf struct{ parent, dir string }

func (h *Hierarchy) makeLeaf(parent string) (*leaf, error) {
	dir, err := h.mkdir(parent, leafName)
	if err != nil {
		return nil, err
	}
	l := &leaf{parent: parent, dir: dir}
	if err = write(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(os.Getpid())); err == nil {
		err = write(filepath.Join(parent, "cgroup.subtree_control"), "+memory")
	}
	if err != nil {
		return nil, errors.Join(err, l.undo())
	}
	return l, nil
}

// errInUse says that a cgroup cannot be given up because others are in or below it.
var errInUse = errors.New("still in use")

// undo moves this process back. The controller stays where other cgroups have
// appeared below the parent: taking it back would lift their limits.
func (l *leaf) undo() error {
	if l == nil {
		return nil
	}
	if hasChildren(l.parent, filepath.Base(l.dir)) {
		return fmt.Errorf("leave the leaf cgroup %s: its parent is %w", l.dir, errInUse)
	}
	err := write(filepath.Join(l.parent, "cgroup.subtree_control"), "-memory")
	if err == nil {
		err = write(filepath.Join(l.parent, "cgroup.procs"), strconv.Itoa(os.Getpid()))
	}
	if err == nil {
		err = os.Remove(l.dir)
	}
	if err != nil {
		return fmt.Errorf("leave the leaf cgroup %s: %w", l.dir, err)
	}
	return nil
}

// hasChildren says whether a cgroup has others below it than those named.
func hasChildren(dir string, but ...string) bool {
	entries, err := os.ReadDir(dir)
	return err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.IsDir() && !slices.Contains(but, e.Name())
	})
}
