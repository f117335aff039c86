//go:build !linux

package procfs

import (
	"io"
	"os"
)

// pread reads a small file from its beginning.
func pread(f *os.File, b []byte) (int, error) {
	n, err := f.ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func open(path string) (*os.File, error) { return os.Open(path) }
