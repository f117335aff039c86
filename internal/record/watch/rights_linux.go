package watch

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// isDumpable says whether the files of a process belong to its user: those of
// one that is not dumpable are root's (proc(5)).
func isDumpable(root string, pid int) bool {
	info, err := os.Stat(filepath.Join(root, strconv.Itoa(pid), "fd"))
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
