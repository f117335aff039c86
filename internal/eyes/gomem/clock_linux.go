package gomem

import "golang.org/x/sys/unix"

// nanotime is the clock of runtime.nanotime: CLOCK_MONOTONIC, which all
// processes of a machine share. 0 where it cannot be had.
func nanotime() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
