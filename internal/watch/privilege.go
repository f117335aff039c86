package watch

import (
	"fmt"
	"os"
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
