package app

import (
	"os"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/procfs"
)

// reapEvery is how often the first process of a container looks for zombies, and how
// long one stays that nobody asks for.
const reapEvery = time.Second

// firstProcess says whether this is the first process of a container, as its entrypoint
// is: what loses its parent becomes its child, and when it ends all end.
func firstProcess() bool { return os.Getpid() == 1 }

// reapOrphans takes the exit codes of children that this process did not start, as
// nobody else can: without that they stay as zombies. What it did start is asked for by
// who did, within reapEvery. It does so where this is the first process, until stop is
// called.
func reapOrphans() (stop func()) {
	if !firstProcess() {
		return func() {}
	}
	ended := make(chan struct{})
	var reaper sync.WaitGroup
	reaper.Go(func() {
		ticker := time.NewTicker(reapEvery)
		defer ticker.Stop()
		var seen map[int]bool
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				seen = reapZombies(seen)
			}
		}
	})
	return func() { close(ended); reaper.Wait() }
}

// reapZombies asks for the children that were zombies before, and gives those that are
// now.
func reapZombies(before map[int]bool) map[int]bool {
	now := map[int]bool{}
	pids, err := procfs.Processes("/proc")
	if err != nil {
		return nil
	}
	for _, pid := range pids {
		if state, err := procfs.StateOf("/proc", pid); err != nil || state != 'Z' {
			continue
		}
		if parent, err := procfs.Parent("/proc", pid); err != nil || parent != os.Getpid() {
			continue
		}
		if before[pid] {
			reap(pid)
			continue
		}
		now[pid] = true
	}
	return now
}
