//go:build raw

package main

import "syscall"

func attachTo(pid int) error { return call(syscall.PTRACE_ATTACH, pid, 0) }

func resume(pid, sig int) error { return call(syscall.PTRACE_CONT, pid, sig) }

func call(request, pid, data int) error {
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(pid), 0, uintptr(data), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
