package procfs

import (
	"fmt"
	"strconv"
	"strings"
)

// Libraries are the files that a process has mapped from their start, without its
// executable, by address. A file that was removed keeps " (deleted)" in its Path. One
// of a file system that may never answer, FUSE or a network's, is left out.
// The result is valid until the Mapper's next reading.
func (m *Mapper) Libraries(root string, tid int) ([]Mapping, error) {
	exe, err := Exe(root, tid)
	if err != nil {
		return nil, err
	}
	if err := m.readMappings(root, tid, "maps"); err != nil {
		return nil, fmt.Errorf("read mappings of process %d: %w", tid, gone(err))
	}
	if m.devices == nil || m.devicesOf != tid {
		m.devices, m.devicesOf = devicesOf(root, "self", strconv.Itoa(tid)), tid
	}
	found := m.mappings[:0]
	for i, at := range m.mappings {
		if at.Offset != 0 || !at.FileBacked() || strings.TrimSuffix(at.Path, " (deleted)") == exe || !isLocal(m.devices, at.device) {
			continue
		}
		// What is left out changes places, so that no entry loses its path.
		m.mappings[len(found)], m.mappings[i] = at, m.mappings[len(found)]
		found = m.mappings[:len(found)+1]
	}
	return found, nil
}

// LibraryPaths are where a mapped file may be opened: the mapping itself, which needs
// CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE (proc_pid_map_files(5)), and its path in the
// process's own file system, where another file may be by now.
func LibraryPaths(root string, tid int, at Mapping) []string {
	return []string{
		pidPath(root, tid, fmt.Sprintf("map_files/%x-%x", at.Start, at.End)),
		pidPath(root, tid, "root"+strings.TrimSuffix(at.Path, " (deleted)")),
	}
}
