//go:build unix

package faultprofile

import (
	"fmt"
	"io/fs"
	"syscall"
)

func fileID(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d/%d", st.Dev, st.Ino)
	}
	return info.Name()
}
