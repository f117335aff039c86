package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/cap"
)

// reading are the capabilities that reading other users' programs takes. The first two
// open and read their memory (ptrace(2), PTRACE_MODE_ATTACH; /proc/PID/mem is its user's
// alone), and leave set-user-ID programs their privilege while they are traced. IPC_LOCK
// keeps the watcher's pages where its cgroup is full (ballast), CHECKPOINT_RESTORE opens
// libraries by /proc/PID/map_files. Tried one by one, as another user's program was
// watched with captures of its heap: without one of the first two nothing is read.
var reading = []cap.Value{cap.SYS_PTRACE, cap.DAC_READ_SEARCH, cap.IPC_LOCK, cap.CHECKPOINT_RESTORE}

// DropRights gives up for good, in all threads of this process, the capabilities of a
// watcher that runs as root but those that it needs. Programs that it starts afterwards
// have them again: the kernel gives a program that root executes all that is in its
// bounding set (capabilities(7)). Where it would not, and the watcher starts some, and
// where the watcher does not run as root, nothing is given up.
//
// It waits for every thread, so none may hang in a read of another program.
func DropRights(n Needs) error {
	if os.Geteuid() != 0 || n.Starts && !regainedByExec() {
		return nil
	}
	if err := keepOnly(keptFor(n)); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

func keptFor(n Needs) []cap.Value {
	keep := slices.Clone(reading)
	if n.Ends {
		keep = append(keep, cap.KILL)
	}
	if n.Faults {
		keep = append(keep, cap.PERFMON) // perf_event_open(2); the BPF program is loaded before
		if perfRestricted("/proc") {
			keep = append(keep, cap.SYS_ADMIN)
		}
	}
	if n.Writes || slices.ContainsFunc(n.Into, isForeign) {
		keep = append(keep, cap.DAC_OVERRIDE)
	}
	return keep
}

// keepOnly leaves the inheritable and the bounding set as they are.
func keepOnly(keep []cap.Value) error {
	has, err := cap.GetPID(0)
	if err != nil {
		return err
	}
	less := cap.NewSet()
	if err := less.FillFlag(cap.Inheritable, has, cap.Inheritable); err != nil {
		return err
	}
	for _, v := range keep {
		if ok, err := has.GetFlag(cap.Permitted, v); err != nil || !ok {
			continue // the kernel does not know it, or this process never had it
		}
		for _, flag := range []cap.Flag{cap.Permitted, cap.Effective} {
			if err := less.SetFlag(flag, true, v); err != nil {
				return err
			}
		}
	}
	return less.SetProc()
}

// regainedByExec says whether a program that this process executes gets the same
// capabilities whether this one has dropped its own or not (security/commoncap.c,
// cap_bprm_creds_from_file, Linux 6.18): as root, without no_new_privs, with the rules
// for root in force, without ambient capabilities, which fall with the permitted ones, and
// with a tracer that may trace all: what another traces gains none.
func regainedByExec() bool {
	noNewPrivileges, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	switch {
	case err != nil || noNewPrivileges != 0:
		return false
	case os.Getuid() != 0 || os.Geteuid() != 0 || cap.GetSecbits()&cap.SecbitNoRoot != 0:
		return false
	case !MayTraceAll("/proc"):
		return false
	}
	return capabilitySet("/proc", "CapAmb") == 0
}

// isForeign says whether root needs CAP_DAC_OVERRIDE to make something in a directory,
// or in the nearest one above it that is there.
func isForeign(dir string) bool {
	var at unix.Stat_t
	for {
		err := unix.Stat(dir, &at)
		if err == nil {
			break
		}
		above := filepath.Dir(dir)
		if above == dir {
			return true
		}
		dir = above
	}
	switch {
	case at.Uid == 0:
		return at.Mode&0o200 == 0
	case at.Gid == 0:
		return at.Mode&0o020 == 0
	}
	return at.Mode&0o002 == 0
}
