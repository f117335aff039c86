package lastbreath

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
)

// LookAtWork looks at the threads of this process. The figures are those of schedstat
// (Documentation/scheduler/sched-stats.rst), in nanoseconds. The caller's thread wants to run while it looks: of it the
// figures alone count.
func LookAtWork() Work {
	w := Work{at: time.Now(), threads: map[int]threadWork{}}
	own := unix.Gettid()
	tids, _ := procfs.Threads(procRoot, os.Getpid())
	for _, tid := range tids {
		b, err := os.ReadFile(filepath.Join(procRoot, "self/task", strconv.Itoa(tid), "schedstat"))
		if err != nil {
			continue // it has ended
		}
		var ran, waited int64
		if _, err := fmt.Sscan(string(b), &ran, &waited); err != nil {
			continue
		}
		state, err := procfs.StateOf(procRoot, tid)
		w.threads[tid] = threadWork{used: time.Duration(ran + waited), runnable: err == nil && state == 'R' && tid != own}
	}
	return w
}
