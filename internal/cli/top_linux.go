package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// notifyStop brings the wishes that this process be stopped (SIGTSTP).
func notifyStop() chan os.Signal {
	wishes := make(chan os.Signal, 1)
	signal.Notify(wishes, syscall.SIGTSTP)
	return wishes
}

// notStopped is when to go on where nothing has stopped us: the kernel stops no
// process that has no shell to continue it (an orphaned process group, setpgid(2)).
const notStopped = 200 * time.Millisecond

// stopSelf stops this process, and those that the shell started with it, as Ctrl-Z
// does, and returns when it is continued. Further wishes come as before.
func stopSelf(wishes chan os.Signal) {
	signal.Reset(syscall.SIGTSTP)
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	defer signal.Notify(wishes, syscall.SIGTSTP)
	_ = syscall.Kill(0, syscall.SIGTSTP) // our own group: allowed
	select {
	case <-continued:
	case <-time.After(notStopped):
	}
}
