package capture

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newBell is a timer of the kernel's, timerfd_create(2), of which Go's
// scheduler knows nothing until it rings. A timer of Go's wakes a second thread
// each time, sysmon, which then looks every 20 µs whether something runs too
// long: at ten wake-ups a second that was a fifth of what a watch cost.
func newBell(rings func()) bell {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return goBell(rings)
	}
	file := os.NewFile(uintptr(fd), "timerfd") // not blocking: polled by the runtime
	conn, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return goBell(rings)
	}
	b := bell{stop: func() { file.Close() }}
	b.set = func(d time.Duration) {
		once := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, d.Nanoseconds()))} // 0 would disarm it
		_ = unix.TimerfdSettime(fd, 0, &once, nil)                                   // fails for a bad time only
	}
	go hear(conn, rings)
	return b
}

// hear calls rings at each expiration until the file is closed. It reads without
// telling the scheduler, like all that a tick reads.
func hear(conn syscall.RawConn, rings func()) {
	var times [8]byte // how often it expired since the last read
	_ = conn.Read(func(fd uintptr) bool {
		n, _, _ := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&times)), uintptr(len(times)))
		if int(n) == len(times) {
			rings()
		}
		return false // wait for the next
	})
}
