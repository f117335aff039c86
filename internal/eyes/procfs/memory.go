package procfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Memory is the memory of a process; an offset is an address. It belongs to the
// process as it was opened: after an exec it reads nothing. A page that never comes
// does not stop its reader, who gets ErrStuck instead: within a second, and then at
// once, until the page has come after all. It may be used from several goroutines.
type Memory struct {
	file    *os.File // ROOT/PID/mem
	pid     int      // for process_vm_readv; 0: not to be used
	direct  bool     // writes go by process_vm_writev, as the file is open to be read
	readers readers
	answers answers
}

// OpenMemory opens a process's memory for reading, which needs the right to trace
// it (ptrace(2), PTRACE_MODE_ATTACH). The caller closes it.
func OpenMemory(root string, pid int) (*Memory, error) { return openMemory(root, pid, os.O_RDONLY) }

// OpenMemoryToWrite is OpenMemory for reading and writing. The file is its program's user's and for
// nobody else: root without CAP_DAC_OVERRIDE may read it by CAP_DAC_READ_SEARCH, and not open it
// to write. process_vm_writev(2) asks for the right to trace alone.
func OpenMemoryToWrite(root string, pid int) (*Memory, error) {
	m, err := openMemory(root, pid, os.O_RDWR)
	if !errors.Is(err, fs.ErrPermission) || root != "/proc" {
		return m, err
	}
	if m, err = openMemory(root, pid, os.O_RDONLY); err == nil {
		m.direct = true
	}
	return m, err
}

func openMemory(root string, pid, flags int) (*Memory, error) {
	f, err := os.OpenFile(pidPath(root, pid, "mem"), flags, 0)
	if err != nil {
		return nil, fmt.Errorf("its memory may not be read: %w", gone(err))
	}
	m := &Memory{file: f, answers: answers{root: root, pid: pid}}
	if root == "/proc" {
		m.pid = pid
	}
	return m, nil
}

// ReadAt reads len(p) bytes at an address. Where not all is mapped it reads what
// comes before, with an error.
func (m *Memory) ReadAt(p []byte, addr int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return m.readers.call(call{of: m, kind: readAt, p: p, addr: addr})
}

// WriteAt writes at an address, if it was opened for that.
func (m *Memory) WriteAt(p []byte, addr int64) (int, error) {
	return m.readers.call(call{of: m, kind: writeAt, p: p, addr: addr})
}

// writeNow is WriteAt, which may hang. A word is read through the file before it is written by the pid alone:
// the file fails if that is another process by now.
func (m *Memory) writeNow(p []byte, addr int64) (int, error) {
	if err := m.answers.has(uint64(addr), len(p)); err != nil {
		return 0, err
	}
	if !m.direct {
		return m.file.WriteAt(p, addr)
	}
	if _, err := m.file.ReadAt(make([]byte, len(p)), addr); err != nil {
		return 0, err
	}
	return len(p), writeDirect(m.pid, p, addr)
}

// readNow is ReadAt, which may hang.
func (m *Memory) readNow(p []byte, addr int64) (int, error) {
	if err := m.answers.has(uint64(addr), len(p)); err != nil {
		return 0, err
	}
	switch {
	case len(p) < directFrom && readSmall(m.file, p, addr):
		return len(p), nil
	case len(p) >= directFrom && m.pid != 0 && readDirect(m.pid, p, addr):
		return len(p), nil
	}
	return m.file.ReadAt(p, addr)
}

// directFrom is the size from which process_vm_readv pays: it copies once, where
// a read of the file copies twice, page by page. It knows the process by its pid
// alone; whoever reads much begins with something small, through the file, which
// fails if the process is another one by now.
const directFrom = 4 << 10

// Close closes the file. It does not wait for a call that hangs.
func (m *Memory) Close() error {
	m.readers.close()
	go m.answers.close() // which may be held by one that hangs
	return m.file.Close()
}
