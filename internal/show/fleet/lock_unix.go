//go:build linux || darwin

package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock is held as long as the file is open, by one agent at a time.
func lock(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s: %w", filepath.Clean(dir), ErrInUse)
	}
	return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
}
