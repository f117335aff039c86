// Package procfs reads what Linux says of processes and of the machine under
// /proc: resident sets, the tree of processes, and where each page of a process
// lies.
//
// Every function takes the root directory, "/proc" or a directory of a test,
// and reading is apart from parsing: the parsers are pure and run on every
// system. What is read at every tick (Watcher, HostWatcher) keeps its files
// open and allocates nothing. That is why github.com/prometheus/procfs, which
// opens, reads and allocates anew at each call, is used only beside that path:
// for command lines, names and the status file. Its smaps reader sums mappings,
// while Residency needs them one by one, so that one is written here too.
//
// The package judges nothing and touches no process: it only reads.
package procfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// ErrGone says that a process has ended, or that only its exit status is left
// (a zombie): it has no memory any more.
var ErrGone = errors.New("process is gone")

// pidPath is ROOT/PID/NAME. A thread id serves as PID: the kernel answers for
// threads too, though it does not list them.
func pidPath(root string, pid int, name string) string {
	return filepath.Join(root, strconv.Itoa(pid), name)
}

// gone turns the errors by which the kernel says that a process has ended into
// ErrGone: ENOENT when its directory is looked up, ESRCH when a file of it that
// was open is read.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return ErrGone
	}
	return err
}

// IsShortage says of an error that a reader ran short of descriptors or memory: it tells nothing of what was to be read,
// and another try may succeed (open(2): EMFILE, ENFILE, ENOMEM; EAGAIN of what is limited in number).
func IsShortage(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EAGAIN)
}

// readStat reads and parses the stat file of a thread once: that of the process sums
// the CPU times of all its threads, some 3 ms for ten thousand, which nobody asks for
// here.
func readStat(root string, tid int) (stat, error) {
	b, err := os.ReadFile(filepath.Join(pidPath(root, tid, "task"), strconv.Itoa(tid), "stat"))
	if err != nil {
		return stat{}, gone(err)
	}
	return parseStat(b)
}

// KeyOf is the identity of the process that has this pid now.
func KeyOf(root string, pid int) (sample.ProcessKey, error) {
	st, err := readStat(root, pid)
	if err != nil {
		return sample.ProcessKey{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return sample.ProcessKey{PID: pid, Start: st.start}, nil
}

// ResidentOf is the resident set of a process, which everybody may read: pages of files
// and shared ones too, as statm counts them (proc_pid_statm(5)).
func ResidentOf(root string, pid int) (sample.Bytes, error) {
	b, err := os.ReadFile(pidPath(root, pid, "statm"))
	if err != nil {
		return 0, fmt.Errorf("resident set of process %d: %w", pid, gone(err))
	}
	resident, _, err := parseStatm(b, sample.Bytes(os.Getpagesize()))
	return resident, err
}

// Parent is the pid of a process's parent; 0 where it has none that can be seen
// from this pid namespace.
func Parent(root string, pid int) (int, error) {
	st, err := readStat(root, pid)
	if err != nil {
		return 0, fmt.Errorf("parent of process %d: %w", pid, err)
	}
	return st.ppid, nil
}

// State is a task's state as field 3 of its stat file gives it (proc_pid_stat(5)).
type State byte

// The states asked for: Zombie has ended and waits for its parent, Dead is
// being removed.
const (
	Zombie State = 'Z'
	Dead   State = 'X'
)

// Ended says that the task runs no more. A process whose first thread has ended
// may live on in its other threads; see Threads.
func (s State) Ended() bool { return s == Zombie || s == Dead }

// StateOf is the state of a process's first thread, or of a thread.
func StateOf(root string, pid int) (State, error) {
	st, err := readStat(root, pid)
	if err != nil {
		return 0, fmt.Errorf("state of process %d: %w", pid, err)
	}
	return st.state, nil
}

// ProcessOf is the pid of the process that a thread belongs to.
func ProcessOf(root string, tid int) (int, error) { return statusNumber(root, tid, "Tgid:") }

// UserOf is the real user id of a process.
func UserOf(root string, pid int) (int, error) { return statusNumber(root, pid, "Uid:") }

// TracerOf is the id of the thread that traces a thread by ptrace, 0 if none does.
func TracerOf(root string, tid int) (int, error) { return statusNumber(root, tid, "TracerPid:") }

// statusNumber is a number in ROOT/TID/status (proc_pid_status(5)).
func statusNumber(root string, tid int, key string) (int, error) {
	b, err := os.ReadFile(pidPath(root, tid, "status"))
	if err != nil {
		return 0, fmt.Errorf("status of thread %d: %w", tid, gone(err))
	}
	n, ok := parseStatusNumber(b, key)
	if !ok {
		return 0, fmt.Errorf("status of thread %d: no number %s", tid, key)
	}
	return n, nil
}

// parseStatusNumber is the number in the line that begins with key.
func parseStatusNumber(b []byte, key string) (int, bool) {
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		if value, ok := bytes.CutPrefix(line, []byte(key)); ok {
			f := fields{b: value}
			return parseInt(f.next())
		}
	}
	return 0, false
}
