package app

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
)

// notifyStop brings the requests that this process be stopped (SIGTSTP).
func notifyStop() chan os.Signal {
	requests := make(chan os.Signal, 1)
	signal.Notify(requests, syscall.SIGTSTP)
	return requests
}

// stopSelf stops this process, and those that the shell started with it, as Ctrl-Z
// does, and returns when it is continued. It is SIGSTOP, for once notified of SIGTSTP
// Go never gives its default back (Go 1.26, runtime.sigdisable).
func stopSelf() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if syscall.Kill(0, syscall.SIGSTOP) == nil {
		<-continued
	}
}

// mayStop says whether there is a shell to continue us: the kernel spares a process
// group without one from Ctrl-Z, too (an orphaned group, setpgid(2)).
func mayStop() bool {
	own, parent := unix.Getpgrp(), os.Getppid()
	for {
		group, err := unix.Getpgid(parent)
		if err != nil || parent <= 1 {
			return false
		}
		if group != own {
			break
		}
		if parent, err = procfs.Parent("/proc", parent); err != nil {
			return false
		}
	}
	ours, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	theirs, err := unix.Getsid(parent)
	return err == nil && ours == theirs
}
