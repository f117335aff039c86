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

// Images tells of a process's mappings, by index, whether their pages are those of files, or no memory of malloc's or
// mmap's: of files, unless the program may have written copies of its own into a private mapping of one that is
// neither its executable nor a library; the zeroed data of files, and the first thread's stack.
func Images(ms []Mapping) func(i int) bool {
	code := codeFiles(ms)
	return func(i int) bool {
		m := &ms[i]
		if m.FileBacked() {
			return m.Perms[1] != 'w' || m.Perms[3] != 'p' || code[m.file()]
		}
		return m.Path == "[stack]" || isBSS(ms, i)
	}
}

// fileID tells files apart.
type fileID struct {
	device string
	inode  uint64
}

func (v *Mapping) file() fileID { return fileID{v.device, v.Inode} }

// codeFiles are the files of which code is mapped: executables and libraries.
func codeFiles(ms []Mapping) map[fileID]bool {
	code := make(map[fileID]bool)
	for i := range ms {
		if ms[i].Perms[2] == 'x' && ms[i].Inode != 0 {
			code[ms[i].file()] = true
		}
	}
	return code
}
