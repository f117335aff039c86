//go:build linux || darwin

package recording

import (
	"errors"
	"os"
	"syscall"

	"github.com/highwater-go/highwater/internal/files/regular"
)

// lock marks a recording as being written, as long as the file that it returns is
// open. It stands on the WAL: on the database itself, closing any descriptor
// would drop SQLite's own locks (fcntl(2), "advisory record locking").
func lock(wal string) (*os.File, error) {
	f, err := os.OpenFile(wal, os.O_RDWR, 0) // room is reserved behind it
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: wal, Err: err}
	}
	return f, nil
}

// locked says whether a Writer is at work. Without a WAL there is none.
func locked(wal string) bool {
	f, err := regular.Open(wal)
	if err != nil {
		return false
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK)
}

// tryLock takes the lock of a WAL that is open, unless a Writer has it.
func tryLock(wal *os.File) bool {
	return syscall.Flock(int(wal.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
