package procfs

import (
	"bytes"
	"os"
	"path/filepath"
)

// Births tells whether a process or thread has begun since the last question, by the pid
// that was given out last (/proc/loadavg, its fifth field): one read for the whole machine.
// The zero value with a Root is ready. It is not safe for concurrent use.
type Births struct {
	Root string // of /proc

	file *os.File
	last []byte
	buf  [128]byte
}

// Any says whether something may have begun; true where that cannot be told.
func (b *Births) Any() bool {
	if b.file == nil {
		f, err := open(filepath.Join(b.Root, "loadavg"))
		if err != nil {
			return true
		}
		b.file = f
	}
	n, err := pread(b.file, b.buf[:])
	if err != nil {
		return true
	}
	words := bytes.Fields(b.buf[:n])
	if len(words) < 5 {
		return true
	}
	if bytes.Equal(words[4], b.last) {
		return false
	}
	b.last = append(b.last[:0], words[4]...)
	return true
}

// Close closes the file.
func (b *Births) Close() {
	if b.file != nil {
		_ = b.file.Close() // it was only read
		b.file = nil
	}
}
