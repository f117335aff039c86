package procfs

import "fmt"

// Areas lists the mappings of a process in ascending order without what of them is
// resident, which costs the kernel a walk over all pages. The result is valid until the
// Mapper's next reading.
func (m *Mapper) Areas(root string, tid int) ([]Mapping, error) {
	if err := m.readMappings(root, tid, "maps"); err != nil {
		return nil, fmt.Errorf("read mappings of process %d: %w", tid, gone(err))
	}
	return m.mappings, nil
}

// IsImage says that the i-th mapping is of a file, or the zeroed data of one, or the
// first thread's stack: what Residency counts as no memory of malloc's or mmap's.
func IsImage(ms []Mapping, i int) bool {
	return ms[i].FileBacked() || ms[i].Path == "[stack]" || isBSS(ms, i)
}
