package watch

import "golang.org/x/sys/unix"

// ticksSinceBoot is the time since the machine started, in the clock ticks of
// /proc/PID/stat: hundredths of a second (USER_HZ, on all architectures of Go's).
func ticksSinceBoot() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 1
	}
	return uint64(t.Nano()) / 10_000_000
}
