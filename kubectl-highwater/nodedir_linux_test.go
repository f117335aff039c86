package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// nodeDir is a directory for a node's parts. In the end what they left there is ended, unmounted and removed.
func nodeDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hwnode-") // sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A shim outlives its containerd by design. Its command line has the socket's path.
		for _, pid := range processesOf(dir) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		for _, path := range mountsBelow(t, dir) {
			_ = syscall.Unmount(path, syscall.MNT_DETACH)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("the node left files: %v", err)
		}
	})
	return dir
}

// processesOf are those with an argument below a directory.
func processesOf(dir string) []int {
	var pids []int
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(line, []byte("\x00"+dir+"/")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// mountsBelow are the mounts below a directory, the last made first.
func mountsBelow(t *testing.T, dir string) []string {
	t.Helper()
	f, err := os.Open("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var paths []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && strings.HasPrefix(fields[1], dir+"/") {
			paths = append(paths, fields[1])
		}
	}
	slices.Reverse(paths)
	return paths
}

// nodeCgroup makes a cgroup for the node's pods in each hierarchy: a kubelet removes the cgroups of pods that are not
// its own from the cgroup that it is given, and another may run here.
func nodeCgroup(t *testing.T, name string) string {
	t.Helper()
	mounts, err := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs")
	if err != nil || len(mounts) == 0 {
		t.Skip("SKIP-REASON: needs cgroup version 1: " + name)
	}
	for _, procs := range mounts {
		top := filepath.Dir(procs)
		at := filepath.Join(top, name)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { removeCgroup(at) })
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} { // a new cpuset takes no process before it has these
			if all, err := os.ReadFile(filepath.Join(top, file)); err == nil {
				if err := os.WriteFile(filepath.Join(at, file), all, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return "/" + name
}

// removeCgroup removes a cgroup and those below it, where nothing is in them.
func removeCgroup(at string) {
	entries, _ := os.ReadDir(at)
	for _, e := range entries {
		if e.IsDir() {
			removeCgroup(filepath.Join(at, e.Name()))
		}
	}
	_ = os.Remove(at)
}
