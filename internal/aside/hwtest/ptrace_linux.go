package hwtest

import (
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// Ptrace needs the right to trace a child, which a seccomp filter or Yama's
// scope 3 takes away. It is tried on one.
func Ptrace() error {
	runtime.LockOSThread() // ptrace belongs to a thread
	defer runtime.UnlockOSThread()
	child := exec.Command("cat")
	stdin, err := child.StdinPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return fmt.Errorf("needs ptrace, and a child to try it on: %w", err)
	}
	seized := unix.PtraceSeize(child.Process.Pid)
	if seized == nil {
		// PTRACE_DETACH wants a stopped tracee; a killed one is let go by itself.
		child.Process.Kill()
	}
	stdin.Close()
	child.Wait()
	if seized != nil {
		return fmt.Errorf("needs ptrace: %w", seized)
	}
	return nil
}
