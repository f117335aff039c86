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

// IsImage says that the i-th mapping is of an executable or a library, or the zeroed data of one, or the
// first thread's stack: what Residency counts as no memory of malloc's or mmap's.
func IsImage(ms []Mapping, i int) bool {
	return ms[i].FileBacked() && isOfCode(ms, i) || ms[i].Path == "[stack]" || isBSS(ms, i)
}

// isOfCode says that code of the i-th mapping's file is mapped, too, as of an executable or a library. Pages that a
// program writes to in a private mapping of another file are its own memory, as any that it maps.
func isOfCode(ms []Mapping, i int) bool {
	for k := range ms {
		if ms[k].Perms[2] == 'x' && ms[k].Inode == ms[i].Inode && ms[k].device == ms[i].device {
			return true
		}
	}
	return false
}
