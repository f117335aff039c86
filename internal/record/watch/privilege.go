package watch

import (
	"fmt"
	"os"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
)

// PrivilegeLost says which privilege an executable does not get when it is started by a
// program that we trace: "" where it has none, or where we may trace all. The kernel
// then ignores its set-user-id and set-group-id bits and its capabilities (execve(2)).
func PrivilegeLost(path string) string {
	if MayTraceAll("/proc") {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	switch mode := info.Mode(); {
	case mode&os.ModeSetuid != 0:
		return fmt.Sprintf("set-user-id (to user %d)", ownerOf(info))
	case mode&os.ModeSetgid != 0 && mode&0o010 != 0:
		return "set-group-id"
	case hasCapabilities(path):
		return "file capabilities (getcap shows them)"
	}
	return ""
}

// WatchTakes says what a watch of a process that runs already takes from what that starts:
// "" for nothing, as where we may trace all, or may not trace it, being protected. Of a Go
// program the thread that is traced starts nothing; of any other it is the first, and what
// that starts is traced.
func WatchTakes(pid int, isGo bool) string {
	if _, err := os.Stat(exeOf("/proc", pid)); err != nil || isGo || MayTraceAll("/proc") {
		return ""
	}
	name, _ := procfs.Name("/proc", pid)
	return fmt.Sprintf("what %s starts while it is watched runs without set-user-ID bits and file capabilities, as of sudo and ping: the kernel ignores them in a program that is traced; as root, or with CAP_SYS_PTRACE, highwater leaves it these", name)
}

// exeOf leads to what a process executes, whatever files it sees.
func exeOf(root string, pid int) string { return fmt.Sprintf("%s/%d/exe", root, pid) }
