//go:build unix

package source

import (
	"io/fs"
	"os"
	"syscall"
)

// open does not wait for the other end of a pipe, takes no terminal, and follows no
// link: that was done.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_NOFOLLOW, 0)
}

// foreign is why a file may be another's choice, nil where it is the reader's own or
// root's, and neither everybody nor a group of others may write to it.
func foreign(info fs.FileInfo) error {
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch perm := info.Mode().Perm(); {
	case !ok:
		return errForeign("its owner is not known")
	case owner.Uid != 0 && int(owner.Uid) != os.Geteuid():
		return errForeign("it belongs to another user")
	case perm&0o002 != 0:
		return errForeign("everybody may write to it")
	case perm&0o020 != 0 && owner.Gid != 0 && int(owner.Gid) != os.Getegid():
		return errForeign("another group may write to it")
	}
	return nil
}
