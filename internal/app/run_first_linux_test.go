package app

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// zombie starts a program that has ended with code 7, and that nobody has asked for.
func zombie(t *testing.T, traced bool) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "exit 7")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: traced}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if traced { // it stops at its first instruction
		var ws unix.WaitStatus
		if _, err := unix.Wait4(cmd.Process.Pid, &ws, 0, nil); err != nil || !ws.Stopped() {
			t.Fatalf("%v, status %x", err, ws)
		}
		if err := unix.PtraceCont(cmd.Process.Pid, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestTheFirstProcessLeavesExitCodesToWhoWaitsForThem(t *testing.T) {
	runtime.LockOSThread() // of ptrace
	defer runtime.UnlockOSThread()
	program, traced, orphan := zombie(t, false), zombie(t, true), zombie(t, false)
	main := program.Process.Pid
	seen := reapZombies(nil, main)
	for _, left := range []*exec.Cmd{program, traced} {
		if seen[left.Process.Pid] {
			t.Errorf("process %d is to be reaped", left.Process.Pid)
		}
	}
	if !seen[orphan.Process.Pid] {
		t.Error("an orphan is not seen")
	}
	reapZombies(map[int]bool{main: true, traced.Process.Pid: true, orphan.Process.Pid: true}, main)
	for _, left := range []*exec.Cmd{program, traced} {
		var ended *exec.ExitError
		if err := left.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 7 {
			t.Errorf("who started it got %v, want code 7", err)
		}
	}
	if err := orphan.Wait(); !errors.Is(err, syscall.ECHILD) && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("an orphan was not reaped: %v", err)
	}
}
