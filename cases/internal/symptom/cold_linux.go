package symptom

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ColdCopy copies a program so that none of it is in memory. What is in memory
// is charged to whoever read it first, and so not to the cgroup of a program
// that was just built or has run before.
func ColdCopy(to, from string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	copied, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	if _, err := io.Copy(copied, source); err != nil {
		return err
	}
	if err := copied.Sync(); err != nil { // dirty pages would stay
		return err
	}
	return unix.Fadvise(int(copied.Fd()), 0, 0, unix.FADV_DONTNEED)
}
