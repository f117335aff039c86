package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
)

// whyUnread adds to a refusal of a process's memory why the kernel refuses, as
// far as that can be seen.
func whyUnread(root string, pid int, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) { // "permission denied", without the file of /proc
		err = path.Err
	}
	return fmt.Errorf("%w: %s", err, missingRight(root, pid))
}

// WhyUntraced adds to a refusal of ptrace who traces the process, or which right
// is missing. root is where proc(5) is mounted.
func WhyUntraced(root string, pid int, err error) error {
	if tracer := tracerOf(root, pid); tracer != 0 {
		name, _ := procfs.Name(root, tracer)
		return fmt.Errorf("%s (pid %d) already traces the process%w", name, tracer, silent{err})
	}
	return whyUnread(root, pid, err)
}

// silent is an error that is known by errors.Is, and adds nothing to a text.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// tracerOf is the process that traces a thread of another, 0 if none does. It is this one
// only where no other does: threads that it had to let go again are its own for a moment.
func tracerOf(root string, pid int) (found int) {
	const most = 4096
	threads, _ := procfs.Threads(root, pid)
	for _, tid := range threads[:min(most, len(threads))] {
		tracer, err := procfs.TracerOf(root, tid)
		if err != nil || tracer == 0 {
			continue
		}
		found = tracer
		if owner, err := procfs.ProcessOf(root, tracer); err == nil {
			found = owner
		}
		if found != os.Getpid() {
			return found
		}
	}
	return found
}

// missingRight is why a process may not be read or traced, by the rules of
// ptrace(2), PTRACE_MODE_ATTACH, in their order.
func missingRight(root string, pid int) string {
	uid, err := procfs.UserOf(root, pid)
	if err == nil && uid != os.Geteuid() {
		return fmt.Sprintf("the process belongs to user %d, and highwater runs as user %d; run highwater as root, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH",
			uid, os.Geteuid())
	}
	if scope := YamaScope(root); scope == 3 || scope > 0 && !MayTraceAll(root) {
		return fmt.Sprintf("kernel.yama.ptrace_scope is %d: %s", scope, yamaSays[min(scope, 3)])
	}
	if !isDumpable(root, pid) {
		return "the process is protected (a set-user-id program, or one with capabilities); run highwater with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"
	}
	return "the process has more capabilities than highwater, or a sandbox (seccomp, a security module) forbids reading it; run highwater with CAP_SYS_PTRACE"
}

// yamaSays are the scopes of Documentation/admin-guide/LSM/Yama.rst.
var yamaSays = [...]string{
	0: "any program of the same user may be read",
	1: "a program may be read by its ancestors only: start it with highwater run, or watch it as root",
	2: "only a process with CAP_SYS_PTRACE may read another",
	3: "no process may trace another, until the machine restarts",
}

// MayTraceAll says whether this process has CAP_SYS_PTRACE, the right to trace and
// read processes of other users (capabilities(7)).
func MayTraceAll(root string) bool {
	const sysPtrace = 19
	return capabilities(root)>>sysPtrace&1 == 1
}

// MayReadAll says whether it may open their files too, which are their users' alone:
// the memory's, and the executable's where that is not everybody's.
func MayReadAll(root string) bool {
	const dacOverride, dacReadSearch = 1, 2
	has := capabilities(root)
	return MayTraceAll(root) && (has>>dacOverride&1 == 1 || has>>dacReadSearch&1 == 1)
}

// capabilities are the effective ones of this process, by number.
func capabilities(root string) uint64 { return capabilitySet(root, "CapEff") }

// capabilitySet is a set of capabilities of this process by its name in proc(5), status.
// What cannot be read is empty.
func capabilitySet(root, name string) uint64 {
	status, err := os.ReadFile(filepath.Join(root, "self/status"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "\n"+name+":")
	word, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	set, err := strconv.ParseUint(word, 16, 64)
	if err != nil {
		return 0
	}
	return set
}

// YamaScope is kernel.yama.ptrace_scope, 0 where there is no Yama.
func YamaScope(root string) int {
	b, err := os.ReadFile(filepath.Join(root, "sys/kernel/yama/ptrace_scope"))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}

// YamaSays is what a scope of Yama's means.
func YamaSays(scope int) string { return yamaSays[max(0, min(scope, len(yamaSays)-1))] }
