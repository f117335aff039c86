package app

import (
	"cmp"
	"fmt"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// largestFirst sorts processes by their resident sets, those that are gone last.
func largestFirst(pids []int) {
	size := make(map[int]sample.Bytes, len(pids))
	for _, pid := range pids {
		size[pid], _ = procfs.ResidentOf("/proc", pid) // gone: attaching tells
	}
	sorting.Stable(pids, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
}

// crowd says how many programs there are, where not all are shown; "": all are.
func (w *watching) crowd(found int) string {
	if found <= w.AtMost {
		return ""
	}
	return fmt.Sprintf("%d of %d programs, the largest (--at-most %d shows all)", w.AtMost, found, found)
}

// A program takes the place of the smallest that is watched if it is larger by a quarter
// and by outgrownBy: two of about one size must not take turns.
const outgrownBy = 4 * sample.MiB

// outgrown is the life that a larger program is to have the place of in a view that
// is full, nil where none is.
func (f *follower) outgrown(pid int) *life {
	size, err := procfs.ResidentOf("/proc", pid)
	if err != nil || f.board == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var smallest *life
	least := sample.Bytes(0)
	for _, l := range f.sources {
		has, err := procfs.ResidentOf("/proc", l.pid)
		if err == nil && (smallest == nil || has < least) {
			smallest, least = l, has
		}
	}
	if smallest == nil || size < least+least/4+outgrownBy {
		return nil
	}
	return smallest
}

// full reports whether no more may be watched. One that gives up its place has it until it is detached.
func (f *follower) full() bool { return f.count() >= f.AtMost }

// sources are what is watched, each with the life that it is of.
type sources map[*watch.Source]*life
