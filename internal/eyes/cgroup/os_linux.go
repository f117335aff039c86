package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pidFD holds a process: unlike a pid it never becomes another's.
type pidFD int

// openPID needs Linux 5.3.
func openPID(pid int) (pidFD, error) {
	n, err := unix.PidfdOpen(pid, 0)
	return pidFD(n), err
}

func (p pidFD) kill() error { return unix.PidfdSendSignal(int(p), unix.SIGKILL, nil, 0) }

// awaitEnd returns when the process has ended, or after the time.
func (p pidFD) awaitEnd(d time.Duration) {
	unix.Poll([]unix.PollFd{{Fd: int32(p), Events: unix.POLLIN}}, int(d.Milliseconds()))
}

func (p pidFD) close() { unix.Close(int(p)) }

// rmdir is rmdir(2): os.Remove would try to unlink first.
func rmdir(dir string) error {
	if err := unix.Rmdir(dir); err != nil {
		return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}

// isBusy reports whether the cgroup still has a process, or another below it.
func isBusy(err error) bool { return errors.Is(err, unix.EBUSY) || errors.Is(err, unix.ENOTEMPTY) }

// isGone reports whether the cgroup was removed, before its file was opened or since.
func isGone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) }

// ours says whether a cgroup belongs to this user: the name of one that is left behind
// can be guessed, and whoever may make cgroups can give theirs such a name.
func ours(dir string) bool {
	var st unix.Stat_t
	return unix.Lstat(dir, &st) == nil && int(st.Uid) == os.Geteuid()
}
