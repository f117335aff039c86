package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var shmemPage = Page{
	Truth: "tmpfs and shared memory, which the kernel cannot reclaim without swap.",
	Looks: []string{
		"The cgroup's own count of shared memory, apart from page cache.",
		"The files in tmpfs that the program has open or mapped or that lie in its tmpfs mounts, memfds and shared mappings; and which program their pages count for, where rights allow.",
	},
	Blind: []string{
		"Files that could not be read, or not in time: the answer says how much of the memory is named.",
		"A file in tmpfs that another cgroup touched first: the kernel counts the file there.",
	},
	Example: "tmpfs",
}

// judgeShmem speaks where tmpfs and shared memory are most of the memory and it is short, or where they
// grew. Without swap the kernel cannot reclaim them.
func judgeShmem(c *Case) Finding {
	shmem := c.ledger.Row(sample.RowShmem)
	grown, grows := c.growsBeside(c.Ticks.Shmem)
	switch {
	case c.pressed && shmem > 0 && shmem >= c.bound*40/100 && shmem >= heapRows(c.ledger):
	case !c.pressed && float64(shmem) >= leastGrown.v() && grows && grown >= leastGrown.v():
	default:
		return silent(fmt.Sprintf("shared memory and tmpfs used %s", size(shmem)), c.factLedger())
	}
	f := Finding{Stance: Speaks, Bytes: shmem, Confidence: High, Facts: []Fact{c.factLedger()}}
	f.Sentence = fmt.Sprintf("Files in memory (tmpfs, shared memory) use %s of the %s. Without swap the kernel cannot reclaim them.", size(shmem),
		size(c.ledger.Total))
	if grows {
		f.Sentence += fmt.Sprintf(" These files grew by %s.", fsize(grown))
	}
	f.Detail = "Shared memory, not the Go heap."
	f.Because = []string{"the kernel counts shared memory separately"}
	f.Why = []Why{{Text: "a file in /dev/shm or another tmpfs counts as memory until it is deleted", Evidence: []string{"ledger"}}}
	if whys := c.filesWhy(sample.RowShmem); len(whys) > 0 {
		f.Why, f.Facts = append(whys, f.Why...), append(f.Facts, c.factFiles()...)
	}
	return f
}
