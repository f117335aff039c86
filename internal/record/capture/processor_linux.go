package capture

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what all our threads took of the processors, user and system.
func processorTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return sinceStart()
	}
	return time.Duration(ts.Nano())
}
