package outfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// noTerminal keeps a terminal that is opened from becoming ours.
const noTerminal = syscall.O_NOCTTY

// descriptor is which descriptor of this process a path names, as /dev/stdout does by
// way of /proc/self/fd/1 (proc(5)). Opened by that name, a file would be written from its
// beginning, over what a shell's >> has there; and renamed over, it would be gone.
func descriptor(path string) (int, bool) {
	if filepath.Dir(path) != "/proc/"+strconv.Itoa(os.Getpid())+"/fd" {
		return 0, false
	}
	n, err := strconv.Atoi(filepath.Base(path))
	return n, err == nil && n >= 0
}

// duplicate is another descriptor of an open file, to be closed on its own.
func duplicate(n int, name string) (*os.File, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	other, err := syscall.Dup(n)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	syscall.CloseOnExec(other)
	return os.NewFile(uintptr(other), name), nil
}

// planted is the kernel's own rule for links and pipes, fs.protected_symlinks and
// fs.protected_fifos (Documentation/admin-guide/sysctl/fs.rst), which containers and
// small systems leave off: in a sticky directory that everybody may write to, what
// belongs to neither us nor the directory's owner.
func planted(dir string, info fs.FileInfo) bool {
	around, err := os.Stat(dir)
	if err != nil {
		return true
	}
	if around.Mode()&fs.ModeSticky == 0 || around.Mode().Perm()&0o002 == 0 {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	place, sure := around.Sys().(*syscall.Stat_t)
	return !ok || !sure || owner.Uid != uint32(os.Geteuid()) && owner.Uid != place.Uid
}
