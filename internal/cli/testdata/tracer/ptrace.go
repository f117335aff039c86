//go:build !raw

package main

import "syscall"

func attachTo(pid int) error { return syscall.PtraceAttach(pid) }

func resume(pid, sig int) error { return syscall.PtraceCont(pid, sig) }
