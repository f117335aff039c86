package lastbreath

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ptraceSetSigmask is PTRACE_SETSIGMASK of include/uapi/linux/ptrace.h.
const ptraceSetSigmask = 0x420b

// The options of traced threads. Every one is held at its exit.
const (
	traceExit    = unix.PTRACE_O_TRACEEXIT | unix.PTRACE_O_TRACEEXEC
	traceThreads = traceExit | unix.PTRACE_O_TRACECLONE // of which a process that Go forks is not one: that is a vfork
	traceFork    = traceExit | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK
	traceAll     = traceFork | unix.PTRACE_O_TRACECLONE
)

func ptrace(request, tid int, addr, data uintptr) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// seize attaches to a thread without stopping it.
func seize(tid, options int) error { return ptrace(unix.PTRACE_SEIZE, tid, 0, uintptr(options)) }

// resume lets a stopped thread go on, with a signal or 0.
//
// A thread that was killed while it stood has gone on by itself: to its exit
// stop, which this must not end unseen, or on the way there, which is ESRCH.
// Then nothing is to be done, as wait tells. (A thread that gets there in the
// microsecond between the question and the request is not held.)
func resume(tid int, sig syscall.Signal) {
	if peek(unix.P_PID, tid) == 0 {
		ptrace(unix.PTRACE_CONT, tid, 0, uintptr(sig))
	}
}

// listen leaves a thread in a group stop, as job control wants it.
func listen(tid int) { ptrace(unix.PTRACE_LISTEN, tid, 0, 0) }

// interrupt makes a running thread stop, and one that stands stop again after it
// is resumed.
func interrupt(tid int) error { return ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0) }

// detach lets a stopped thread go for good, with a signal or 0.
func detach(tid int, sig syscall.Signal) error {
	return ptrace(unix.PTRACE_DETACH, tid, 0, uintptr(sig))
}

// seize attaches to a thread that is followed.
func (t *Tracer) seize(tid, options int) error { return seize(tid, options|t.ourDeath()) }

// setOptions replaces the options of a stopped thread that is followed.
func (t *Tracer) setOptions(tid, options int) { unix.PtraceSetOptions(tid, options|t.ourDeath()) }

// ourDeath is what our death does to what is traced. The kernel then sends
// SIGKILL to the whole process of each traced thread (kernel/ptrace.c, exit_ptrace).
func (t *Tracer) ourDeath() int {
	if t.options.EndWithUs {
		return unix.PTRACE_O_EXITKILL
	}
	return 0
}

// onOurDeath is the same for a program that is about to be started, and that is not
// seized yet: the signal that it gets when the thread that forked it ends.
func (t *Tracer) onOurDeath() syscall.Signal {
	if t.options.EndWithUs {
		return unix.SIGKILL
	}
	return 0
}

// setSigmask sets the signals that a stopped thread blocks.
func setSigmask(tid int, set *unix.Sigset_t) error {
	const kernelSize = 8 // of the kernel's sigset_t; the C library's is larger
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, ptraceSetSigmask, uintptr(tid), kernelSize, uintptr(unsafe.Pointer(set)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// event is the PTRACE_EVENT of a stop, 0 for a signal on its way.
func event(ws unix.WaitStatus) int { return int(ws) >> 16 }

// isGroupStop says that an EVENT_STOP with this signal is job control's.
func isGroupStop(sig syscall.Signal) bool {
	switch sig {
	case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		return true
	}
	return false
}

// isPause says that a stop is an interrupt's, or a newborn's first.
func isPause(ws unix.WaitStatus) bool {
	return ws.Stopped() && event(ws) == unix.PTRACE_EVENT_STOP && !isGroupStop(ws.StopSignal())
}

// peek is the id of a child or traced thread of this OS thread that has
// something to report, without taking the report; 0 if there is none. idType
// and id are waitid(2)'s. Only the calling thread's are asked (__WNOTHREAD).
func peek(idType, id int) int {
	var info unix.Siginfo
	const flags = unix.WEXITED | unix.WNOHANG | unix.WNOWAIT | unix.WALL | unix.WNOTHREAD
	for {
		err := unix.Waitid(idType, id, &info, flags, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0
		}
		// si_pid follows three ints, aligned to 8 bytes on 64-bit systems.
		b := (*[unsafe.Sizeof(info)]byte)(unsafe.Pointer(&info))
		return int(int32(binary.NativeEndian.Uint32(b[16:])))
	}
}

// take takes what a thread has to report, if it has; it waits for it if block.
func take(tid int, block bool) (unix.WaitStatus, bool) {
	flags := unix.WALL | unix.WNOHANG
	if block {
		flags = unix.WALL
	}
	for {
		var ws unix.WaitStatus
		got, err := unix.Wait4(tid, &ws, flags, nil)
		if err == unix.EINTR {
			continue
		}
		return ws, err == nil && got == tid
	}
}
