package procfs

import "strings"

// kernelsOwn are how the kernel names files on its own mount of tmpfs, which no list of mounts has: memfd_create(2), shared
// memory without a file (mmap(2)) and that of System V (shmget(2)).
var kernelsOwn = []string{"/memfd:", "/dev/zero (deleted)", "/SYSV"}

// MemoryMapping tells the shared mappings of a process whose pages are memory of no disk: of files in
// tmpfs, of memfds, and shared memory without a file. The kernel counts these pages as shared memory.
// Mounts of a process that can no longer be asked count as disks.
func MemoryMapping(root string, pid int) func(m *Mapping) bool {
	var devices map[string]bool // of tmpfs, nil: not read yet
	return func(m *Mapping) bool {
		if m.Perms[3] != 's' || !m.FileBacked() {
			return false
		}
		for _, name := range kernelsOwn {
			if strings.HasPrefix(m.Path, name) {
				return true
			}
		}
		if devices == nil {
			devices = map[string]bool{}
			mounts, _ := Mounts(root, pid)
			for i := range mounts {
				devices[mounts[i].Device] = mounts[i].IsMemory()
			}
		}
		return devices[m.device]
	}
}
