package app

import (
	"os"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
)

// reapEvery is how often the first process of a container looks for zombies, and how
// long one stays that nobody asks for.
const reapEvery = time.Second

// firstProcess says whether this is the first process of a container, as its entrypoint
// is: what loses its parent becomes its child, and when it ends all end.
func firstProcess() bool { return os.Getpid() == 1 }

// reapOrphans takes the exit codes of children that this process did not start, as
// nobody else can: without that they stay as zombies. That of the program is left to who started it, that of what
// is traced to the tracer: they may take longer than reapEvery, and nobody else can tell them. It does so where this is
// the first process, until stop is called; main gives the program's pid.
func reapOrphans(main func() int) (stop func()) {
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
				seen = reapZombies(seen, main())
			}
		}
	})
	return func() { close(ended); reaper.Wait() }
}

// reapZombies asks for the children that were zombies before, and gives those that are
// now. The program, main, and what is traced are left out.
func reapZombies(before map[int]bool, main int) map[int]bool {
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
		// A first thread is a zombie while others of its process are held at their exit.
		if tracer, err := procfs.TracerOf("/proc", pid); err != nil || tracer != 0 || pid == main {
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
