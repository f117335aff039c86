package web

import (
	"os"

	"golang.org/x/sys/unix"
)

// willNeed says that a part of a file will be read: posix_fadvise(2).
func willNeed(f *os.File, from, length int64) error {
	return unix.Fadvise(int(f.Fd()), from, length, unix.FADV_WILLNEED)
}
