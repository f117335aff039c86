package hwtest

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// locked runs f while it holds an exclusive lock on the file, which ends with
// the process at the latest.
func locked(path string, f func() error) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	for {
		if err = unix.Flock(int(file.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return err
	}
	return f()
}
