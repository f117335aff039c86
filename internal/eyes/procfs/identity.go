package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	prom "github.com/prometheus/procfs"
)

// process opens a process with the library; the error is ErrGone if there is none.
func process(root string, pid int) (prom.Proc, error) {
	fs, err := prom.NewFS(root)
	if err != nil {
		return prom.Proc{}, err
	}
	p, err := fs.Proc(pid)
	return p, gone(err)
}

// Comm is the name that the kernel gives a process: at most 15 bytes, of its
// executable or chosen by itself.
func Comm(root string, pid int) (string, error) {
	p, err := process(root, pid)
	if err != nil {
		return "", fmt.Errorf("name of process %d: %w", pid, err)
	}
	comm, err := p.Comm()
	if err != nil {
		return "", fmt.Errorf("name of process %d: %w", pid, gone(err))
	}
	return comm, nil
}

// Exe is the path of a process's executable as it was when it started. The file
// may have been removed or replaced since; ROOT/PID/exe opens the one that runs.
func Exe(root string, pid int) (string, error) {
	path, err := os.Readlink(pidPath(root, pid, "exe"))
	if err != nil {
		return "", fmt.Errorf("executable of process %d: %w", pid, gone(err))
	}
	return strings.TrimSuffix(path, " (deleted)"), nil
}

// Name is the base name of a process's executable, or Comm where that cannot be
// read, as for a process of another user.
func Name(root string, pid int) (string, error) {
	if path, err := Exe(root, pid); err == nil {
		return filepath.Base(path), nil
	}
	return Comm(root, pid)
}

// Cmdline is a process's command line with what looks secret replaced (see
// Redact). It is empty for a zombie and for a thread of the kernel. It lies in the
// process's memory, and so the error may be ErrStuck.
func Cmdline(root string, pid int) ([]string, error) {
	p, err := process(root, pid)
	if err != nil {
		return nil, fmt.Errorf("command line of process %d: %w", pid, err)
	}
	args, err := patiently(p.CmdLine)
	if err != nil {
		return nil, fmt.Errorf("command line of process %d: %w", pid, gone(err))
	}
	return Redact(args), nil
}
