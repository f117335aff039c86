package procfs

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// mostEnvironment is how much of a program's environment is looked through. The kernel's
// own bound is a quarter of the stack's (execve(2)), 2 MiB by default.
const mostEnvironment = 1 << 20

// Environment gives the settings of these names that a process was started with
// (/proc/PID/environ, proc_pid_environ(5)). All others stay unread by whoever asks:
// environments hold secrets. What the program sets by itself is not there.
func Environment(root string, pid int, names ...string) (map[string]string, error) {
	f, err := os.Open(filepath.Join(root, strconv.Itoa(pid), "environ"))
	if err != nil {
		return nil, fmt.Errorf("read the environment of process %d: %w", pid, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostEnvironment))
	if err != nil {
		return nil, fmt.Errorf("read the environment of process %d: %w", pid, err)
	}
	defer clear(b)
	found := map[string]string{}
	for setting := range bytes.SplitSeq(b, []byte{0}) {
		name, value, ok := bytes.Cut(setting, []byte("="))
		if ok && slices.Contains(names, string(name)) {
			if _, twice := found[string(name)]; !twice { // getenv(3) takes the first
				found[string(name)] = string(value)
			}
		}
	}
	return found, nil
}
