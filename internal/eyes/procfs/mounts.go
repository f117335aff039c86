package procfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Mount is one mount that a process sees (proc_pid_mountinfo(5)).
type Mount struct {
	ID, Parent int
	Device     string // "8:1"
	Point      string // in the process's own root
	Kind       string // "ext4", "tmpfs"
	ReadOnly   bool
}

// maxMountinfo bounds what is read of a list of mounts, in bytes: 100,000 by default (fs.mount-max).
const maxMountinfo = 32 << 20

// Mounts lists what a process has mounted.
func Mounts(root string, pid int) ([]Mount, error) {
	f, err := os.Open(pidPath(root, pid, "mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("mounts of process %d: %w", pid, gone(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxMountinfo))
	if err != nil {
		return nil, fmt.Errorf("mounts of process %d: %w", pid, gone(err))
	}
	return parseMounts(text), nil
}

// parseMounts leaves lines out that are not of the kernel's form.
func parseMounts(text []byte) (list []Mount) {
	for line := range bytes.Lines(text) {
		before, after, ok := strings.Cut(string(line), " - ")
		words, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(words) < 6 || len(kind) == 0 {
			continue
		}
		id, err1 := strconv.Atoi(words[0])
		parent, err2 := strconv.Atoi(words[1])
		if errors.Join(err1, err2) != nil {
			continue
		}
		list = append(list, Mount{ID: id, Parent: parent, Device: words[2], Point: unescaped(words[4]), Kind: kind[0],
			ReadOnly: slices.Contains(strings.Split(words[5], ","), "ro")})
	}
	return list
}

// unescaped undoes what the kernel writes for a space, a tab, a newline and a backslash in a name: "\040".
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// IsLocal says whether this kernel answers for the files of a mount itself. Those of FUSE, of networks
// and of automounts may never be answered for.
func (m *Mount) IsLocal() bool { return slices.Contains(local, m.Kind) }

// IsMemory says whether its files are memory, and counted as shared memory.
func (m *Mount) IsMemory() bool { return m.Kind == "tmpfs" || m.Kind == "devtmpfs" }
