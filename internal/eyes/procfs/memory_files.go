package procfs

import "strings"

// kernelsOwn are how the kernel names files on its own mount of tmpfs, which no list of mounts has: memfd_create(2), shared
// memory without a file (mmap(2)) and that of System V (shmget(2)).
var kernelsOwn = []string{"/memfd:", "/dev/zero (deleted)", "/SYSV"}

// MemoryFiles tells the shared mappings of a process whose pages are memory of no disk: of files in
// tmpfs, of memfds, and shared memory without a file. The kernel counts these pages as shared memory.
// The zero value is ready; it reads the process's mounts once for each device that it has not met.
type MemoryFiles struct {
	devices map[string]bool // whether it is a tmpfs
}

// Has reports whether a mapping is one of them. A device of which the process's mounts tell nothing counts as a disk.
func (f *MemoryFiles) Has(root string, pid int, m *Mapping) bool {
	if m.Perms[3] != 's' || !m.FileBacked() {
		return false
	}
	for _, name := range kernelsOwn {
		if strings.HasPrefix(m.Path, name) {
			return true
		}
	}
	if _, met := f.devices[m.device]; !met {
		f.learn(root, pid, m.device)
	}
	return f.devices[m.device]
}

func (f *MemoryFiles) learn(root string, pid int, device string) {
	mounts, err := Mounts(root, pid)
	if err != nil {
		return // it may be told later
	}
	if f.devices == nil {
		f.devices = map[string]bool{}
	}
	f.devices[device] = false
	for i := range mounts {
		f.devices[mounts[i].Device] = mounts[i].IsMemory()
	}
}
