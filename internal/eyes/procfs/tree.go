package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Processes lists the pids of all processes that can be seen, in ascending order.
func Processes(root string) ([]int, error) {
	pids, err := numbers(root)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return pids, nil
}

// Threads lists the thread ids of a process in ascending order, ended ones
// that have not been removed included.
func Threads(root string, pid int) ([]int, error) {
	ids, err := numbers(pidPath(root, pid, "task"))
	if err != nil {
		return nil, fmt.Errorf("threads of process %d: %w", pid, gone(err))
	}
	return ids, nil
}

// Children lists the pids of a process's children in ascending order. It reads
// task/*/children and, on a kernel built without CONFIG_PROC_CHILDREN, the
// parents of all processes. A child that ends meanwhile may be missing.
func Children(root string, pid int) ([]int, error) {
	threads, err := Threads(root, pid)
	if err != nil {
		return nil, err
	}
	var pids []int
	supported := false
	for _, tid := range threads {
		b, err := os.ReadFile(filepath.Join(pidPath(root, pid, "task"), strconv.Itoa(tid), "children"))
		if err != nil {
			continue // the thread has ended, or the kernel has no such file
		}
		supported = true
		pids = appendNumbers(pids, b)
	}
	if !supported {
		return childrenByParent(root, pid)
	}
	slices.Sort(pids)
	return pids, nil
}

// Descendants lists the pids of all processes below one, nearest first. A
// process whose parent ended before it was listed now belongs to another one
// (init, a subreaper) and is not found; a cgroup's list has it.
func Descendants(root string, pid int) ([]int, error) {
	found, err := Children(root, pid)
	if err != nil {
		return nil, err
	}
	seen := map[int]bool{pid: true}
	all := found[:0:0]
	for len(found) > 0 {
		next := found[0]
		found = found[1:]
		if seen[next] {
			continue
		}
		seen[next] = true
		all = append(all, next)
		if below, err := Children(root, next); err == nil {
			found = append(found, below...)
		}
	}
	return all, nil
}

// childrenByParent scans every process of the machine for its parent.
func childrenByParent(root string, pid int) ([]int, error) {
	all, err := Processes(root)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p int) bool {
		st, err := readStat(root, p)
		return err != nil || st.ppid != pid
	}), nil
}

// numbers lists the entries of a directory that are numbers, ascending.
func numbers(dir string) ([]int, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var ids []int
	for _, name := range names {
		if n, ok := parseInt([]byte(name)); ok {
			ids = append(ids, n)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// appendNumbers parses a list of numbers between spaces.
func appendNumbers(dst []int, b []byte) []int {
	f := fields{b: b}
	for w := f.next(); len(w) > 0; w = f.next() {
		if n, ok := parseInt(w); ok {
			dst = append(dst, n)
		}
	}
	return dst
}
