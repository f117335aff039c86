package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// ownGroup gives a command a process group of its own, and ends the whole group
// when its context ends.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// endGroup kills what is left of a command's process group.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // none left: that is meant
	}
}

// guard waits for a word on its standard input. Where we die there comes none, and it
// kills the cgroup $0, if that is not empty, and the process group that it is in. A cgroup
// of version 1 has no cgroup.kill: there, what is listed is killed until nothing is.
const guard = `trap "" HUP INT TERM
read -r over && exit
if [ -z "$0" ]; then
	:
elif [ -e "$0/cgroup.kill" ]; then
	echo 1 >"$0/cgroup.kill"
else
	n=0
	while [ $((n += 1)) -le 100 ] && pids=$(cat "$0/cgroup.procs") && [ -n "$pids" ]; do
		kill -s KILL $pids
	done
fi 2>/dev/null
kill -s KILL 0`

// endWithUs has a command's process group, and the cgroup at dir, end when we do, by
// SIGKILL too: a load that nobody measures any more would only disturb what is measured
// next. A shell in that process group holds the end of a pipe whose other end the kernel
// closes with us. release lets them go their way.
func endWithUs(cmd *exec.Cmd, dir string) (release func(), err error) {
	g := exec.Command("/bin/sh", "-c", guard, dir)
	g.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: cmd.Process.Pid}
	over, err := g.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := g.Start(); err != nil {
		return nil, fmt.Errorf("start what ends it with us: %w", err)
	}
	return func() {
		_, _ = over.Write([]byte("over\n")) // it was killed with the group: that is meant
		_ = g.Wait()
	}, nil
}

// exitCodeOf is a process's exit code as a shell gives it.
func exitCodeOf(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return signalExitCodeOff + int(ws.Signal())
	}
	return state.ExitCode()
}

// reap waits for a child and gives its exit code as a shell does; exitFailed where it is
// none, or somebody else has asked.
func reap(pid int) int {
	for {
		var ws syscall.WaitStatus
		switch got, err := syscall.Wait4(pid, &ws, 0, nil); {
		case errors.Is(err, syscall.EINTR):
		case err != nil || got != pid:
			return ExitFailed
		case ws.Signaled():
			return signalExitCodeOff + int(ws.Signal())
		default:
			return ws.ExitStatus()
		}
	}
}

// forwarded are the signals that are passed on to the program.
func forwarded() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}
}

// forgetExecutable takes the pages of our executable out of this process: most were
// needed at its start alone. What is used again is mapped again from the page cache
// (madvise(2), MADV_DONTNEED of a file's private mapping). A mapping with pages of
// its own, such as a debugger's breakpoints, stays.
func forgetExecutable() {
	for _, m := range ownExecutable() {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(m[0]), uintptr(m[1]-m[0]), syscall.MADV_DONTNEED) // refused for locked pages: they stay
	}
}

// ownExecutable is where our executable is mapped and not written to, each from an address to
// before another.
var ownExecutable = sync.OnceValue(func() (at [][2]uint64) {
	exe, err := procfs.Exe("/proc", os.Getpid())
	if err != nil {
		return nil
	}
	mappings, err := new(procfs.Mapper).Mappings("/proc", os.Getpid())
	if err != nil {
		return nil
	}
	for i := range mappings {
		if m := &mappings[i]; m.FileBacked() && !m.Writable() && m.Anonymous == 0 && strings.TrimSuffix(m.Path, " (deleted)") == exe {
			at = append(at, [2]uint64{m.Start, m.End})
		}
	}
	return at
})

// hasDesktop says whether there is a display for a browser.
func hasDesktop() bool { return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "" }

// desktopOpeners are the commands that open an address.
func desktopOpeners() [][]string { return [][]string{{"xdg-open"}, {"wslview"}} }

// usedMemory is what this process has of memory that cannot be taken back: its
// resident set without pages of files (proc(5), statm).
func usedMemory() sample.Bytes {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return goMemory()
	}
	var size, resident, shared uint64
	if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err != nil {
		return goMemory()
	}
	return sample.Bytes((resident - min(shared, resident)) * uint64(os.Getpagesize()))
}

// usedTime is the time that this process has taken of its processors.
func usedTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Columns is a terminal's width (ioctl_tty(2), TIOCGWINSZ); 80 where it does not say.
func Columns(f *os.File) int {
	if f == nil {
		return defaultColumns
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return defaultColumns
	}
	return int(size.Col)
}

// owned says whether a file belongs to this user.
func owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
