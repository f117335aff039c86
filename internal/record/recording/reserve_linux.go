package recording

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve takes room on the disk behind the end of a file, which stays as long as it
// is (fallocate(2), FALLOC_FL_KEEP_SIZE). A file system that cannot refuses.
func reserve(f *os.File, room int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, info.Size(), room)
}
