package watch

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasCapabilities says whether a file has any (capabilities(7), security.capability).
func hasCapabilities(path string) bool {
	n, err := unix.Getxattr(path, "security.capability", nil)
	return err == nil && n > 0
}

func ownerOf(info fs.FileInfo) uint32 {
	st, _ := info.Sys().(*syscall.Stat_t)
	return st.Uid
}
