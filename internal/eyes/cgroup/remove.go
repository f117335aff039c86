package cgroup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// errNotOurs guards what would harm a cgroup that somebody else made.
var errNotOurs = errors.New("this cgroup was not made here")

// Add moves a process into the cgroup, with all its threads. In version 1 what
// it was charged before stays where it was.
func (c *Cgroup) Add(pid int) error {
	if err := c.write("cgroup.procs", strconv.Itoa(pid)); err != nil {
		return fmt.Errorf("add process %d to cgroup %s: %w", pid, c.Path, err)
	}
	return nil
}

const procsName = "cgroup.procs"

// Procs gives the processes of the cgroup and of those below it, in no order.
// Zombies are not among them.
func (c *Cgroup) Procs() ([]int, error) {
	if c.files.dir.isLeaf() {
		// It is opened each time: version 1 goes on showing the same list to whoever
		// keeps it open and reads it again within a second (kernel/cgroup/cgroup-v1.c,
		// cgroup_pidlist_start).
		if b, err := c.files.dir.list(procsName); err == nil {
			return parseProcs(b), nil
		}
	}
	var all []int
	for _, dir := range c.tree() {
		pids, err := readProcs(dir)
		if isGone(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list the processes of cgroup %s: %w", c.Path, err)
		}
		all = append(all, pids...)
	}
	return all, nil
}

// tree gives the directories of the cgroup and of those below it, top down.
func (c *Cgroup) tree() (dirs []string) {
	filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	return dirs
}

func readProcs(dir string) ([]int, error) {
	b, err := os.ReadFile(filepath.Join(dir, procsName))
	return parseProcs(b), err
}

func parseProcs(b []byte) (pids []int) {
	for word := range bytes.FieldsSeq(b) {
		// 0 is a process of another pid namespace (cgroups(7)).
		if pid, err := strconv.Atoi(string(word)); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killRounds bounds the hunt for processes that fork faster than they are killed.
const killRounds = 100

// Made says whether Create made it.
func (c *Cgroup) Made() bool { return c.made != nil }

// Kill sends SIGKILL to every process left in the cgroup and below, and does not
// wait for their end. It refuses a cgroup that Create did not make.
func (c *Cgroup) Kill() error {
	if c.made == nil {
		return fmt.Errorf("kill the processes of cgroup %s: %w", c.Path, errNotOurs)
	}
	if c.h.Version == 2 && c.write("cgroup.kill", "1") == nil { // since 5.14
		return nil
	}
	signalled := map[int]bool{}
	for range killRounds {
		pids, err := c.Procs()
		if err != nil {
			return err
		}
		pids = slices.DeleteFunc(pids, func(pid int) bool { return signalled[pid] || pid == os.Getpid() })
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			c.killOne(pid)
			signalled[pid] = true
		}
	}
	return fmt.Errorf("kill the processes of cgroup %s: new ones appear all the time", c.Path)
}

// killOne kills a process if it is still in the cgroup: its pid may have become
// another's since it was listed, so it is looked at again once the pidfd holds it.
func (c *Cgroup) killOne(pid int) {
	p, err := openPID(pid)
	if err != nil {
		return // gone
	}
	defer p.close()
	path, err := c.h.Find(pid)
	if err != nil {
		return
	}
	if _, inside := cutDir(path, c.Path); inside {
		p.kill()
	}
}

// poll bounds the wait between two attempts to remove a cgroup: the threads of
// a process that is ending keep it for a moment and no event tells of their end.
const poll = 20 * time.Millisecond

// Remove closes and removes the cgroup, and those that the program made below
// it, as soon as their last process has ended; ctx bounds the wait. It refuses a
// cgroup that Create did not make.
func (c *Cgroup) Remove(ctx context.Context) error {
	if c.made == nil {
		return fmt.Errorf("remove cgroup %s: %w", c.Path, errNotOurs)
	}
	c.Close()
	for {
		err := c.rmdir()
		if err == nil {
			return c.made.leaf.undo()
		}
		if !isBusy(err) {
			return fmt.Errorf("remove cgroup: %w", err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("remove cgroup: %w: %w", err, ctx.Err())
		}
		c.awaitEnd(ctx)
	}
}

// rmdir removes the cgroups bottom up.
func (c *Cgroup) rmdir() error {
	for _, dir := range slices.Backward(c.tree()) {
		if err := rmdir(dir); err != nil && !isGone(err) {
			return err
		}
	}
	return nil
}

// awaitEnd returns when a process of the cgroup has ended, after poll at the latest.
func (c *Cgroup) awaitEnd(ctx context.Context) {
	pids, _ := c.Procs()
	for _, pid := range pids {
		if p, err := openPID(pid); err == nil {
			p.awaitEnd(poll)
			p.close()
			return
		}
	}
	select {
	case <-ctx.Done():
	case <-time.After(poll):
	}
}
