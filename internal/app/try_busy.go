package app

import (
	"context"
	"fmt"
	"time"
)

// pauseFor is how long the machine is looked at before each run, while nothing of
// the trial runs.
const pauseFor = 250 * time.Millisecond

// busyMeter adds up what others take of the CPUs between the runs.
type busyMeter struct{ busy, all uint64 }

// pause waits and looks; the error is ctx's.
func (b *busyMeter) pause(ctx context.Context) error {
	busy, all := cpuTicks(readLine("/proc/stat"))
	timer := time.NewTimer(pauseFor)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	nowBusy, nowAll := cpuTicks(readLine("/proc/stat"))
	if nowAll > all && nowBusy >= busy {
		b.busy, b.all = b.busy+nowBusy-busy, b.all+nowAll-all
	}
	return nil
}

// share is nil where the machine does not tell.
func (b *busyMeter) share() *float64 {
	if b.all == 0 {
		return nil
	}
	share := float64(b.busy) / float64(b.all)
	return &share
}

// cpuTicks reads the first line of /proc/stat (proc_stat(5)): user, nice, system,
// idle, iowait, irq, softirq, steal. What was stolen was not there to be used.
func cpuTicks(text string) (busy, all uint64) {
	var user, nice, system, idle, iowait, irq, softirq, steal uint64
	if _, err := fmt.Sscanf(text, "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal); err != nil {
		return 0, 0
	}
	busy = user + nice + system + irq + softirq + steal
	return busy, busy + idle + iowait
}
