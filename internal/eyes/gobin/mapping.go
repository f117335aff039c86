package gobin

import (
	"errors"
	"io"
	"os"
	"sync"

	"github.com/highwater-go/highwater/internal/files/regular"
)

// maxFile bounds what is mapped. The largest Go executables have some GB.
const maxFile = 16 << 30

// mapping is a file's content, mapped read-only where the system can.
type mapping struct {
	data   []byte
	mapped bool // else data is ordinary memory
	info   os.FileInfo
	once   sync.Once
}

func mapFile(path string) (*mapping, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > maxFile {
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("too large")}
	}
	if st.Size() == 0 {
		return &mapping{}, nil
	}
	m, err := mapOpen(f, int(st.Size()))
	if err == nil {
		m.info = st
	}
	return m, err
}

// ReadAt makes the mapping the reader that debug/elf and debug/buildinfo want.
func (m *mapping) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= int64(len(m.data)) {
		return 0, io.EOF
	}
	n := copy(p, m.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *mapping) close() (err error) {
	if m.mapped {
		m.once.Do(func() { err = unmap(m.data) })
	}
	return err
}
