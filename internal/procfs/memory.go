package procfs

import (
	"fmt"
	"os"
)

// Memory is the memory of a process; an offset is an address. It belongs to the
// process as it was opened: after an exec it reads nothing.
type Memory struct {
	file *os.File // ROOT/PID/mem
	pid  int      // for process_vm_readv; 0: not to be used
}

// OpenMemory opens a process's memory for reading, which needs the right to trace
// it (ptrace(2), PTRACE_MODE_ATTACH). The caller closes it.
func OpenMemory(root string, pid int) (*Memory, error) {
	f, err := os.Open(pidPath(root, pid, "mem"))
	if err != nil {
		return nil, fmt.Errorf("its memory may not be read: %w", gone(err))
	}
	m := &Memory{file: f}
	if root == "/proc" {
		m.pid = pid
	}
	return m, nil
}

// ReadAt reads len(p) bytes at an address. Where not all is mapped it reads what
// comes before, with an error.
func (m *Memory) ReadAt(p []byte, addr int64) (int, error) {
	switch {
	case len(p) == 0:
		return 0, nil
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

// File is the file, for a caller that opens it again.
func (m *Memory) File() string { return m.file.Name() }

// Close closes the file.
func (m *Memory) Close() error { return m.file.Close() }
