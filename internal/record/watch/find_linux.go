package watch

import (
	"io/fs"
	"syscall"
)

func fileOf(info fs.FileInfo) file {
	st, _ := info.Sys().(*syscall.Stat_t)
	return file{dev: uint64(st.Dev), inode: st.Ino, changed: info.ModTime()}
}
