package recording

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	sqlite3 "modernc.org/sqlite/lib"
)

// whyFull says in the system's words what SQLite calls "database or disk is full",
// or on a disk that has no room for its -shm file "disk I/O error"; any other
// error is returned as it is.
func whyFull(path string, err error) error {
	dir := filepath.Dir(path)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return ErrFull{dir}
	}
	switch code(err) {
	case sqlite3.SQLITE_FULL:
		return ErrFull{dir}
	case sqlite3.SQLITE_IOERR:
		if tried := tryToWrite(dir); errors.Is(tried, syscall.ENOSPC) || errors.Is(tried, syscall.EDQUOT) {
			return ErrFull{dir}
		}
	}
	return err
}

// tryToWrite is what the system says to as many bytes as SQLite's -shm file has,
// the smallest step by which it grows (sqlite.org/walformat.html).
func tryToWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".highwater-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, 32<<10))
	return errors.Join(err, f.Sync(), f.Close())
}
