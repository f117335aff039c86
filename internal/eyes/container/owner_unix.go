//go:build unix

package container

import (
	"os"
	"syscall"
)

// ownerOf is the user who owns a cgroup.
func ownerOf(dir string) (uid int, ok bool) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
