package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/sample"
)

var shmemPage = Page{
	Truth: "tmpfs and shared memory, which the kernel cannot take back without swap.",
	Looks: []string{
		"The cgroup's own count of shared memory, apart from page cache.",
	},
	Blind: []string{
		"Which files: their names are in the mount, not in the memory.",
		"A file in tmpfs that another cgroup touched first: it is charged there.",
	},
	Example: "tmpfs",
}

// judgeShmem speaks where tmpfs and shared memory are most of the memory, and it is short or they
// grew. Without swap the kernel cannot reclaim them.
func judgeShmem(c *Case) Finding {
	shmem := c.ledger.Row(sample.RowShmem)
	hard := c.ledger.Total.Sub(c.ledger.Row(sample.RowPageCache))
	switch {
	case c.pressed && shmem >= c.bound*40/100 && shmem >= heapRows(c.ledger):
	case !c.pressed && float64(shmem) >= leastGrown.v() && float64(shmem) >= heldByRoot.v()*float64(hard):
	default:
		return silent(fmt.Sprintf("shared memory and tmpfs were %s", size(shmem)), c.factLedger())
	}
	f := Finding{Stance: Speaks, Bytes: shmem, Confidence: High, Facts: []Fact{c.factLedger()}}
	f.Sentence = fmt.Sprintf("Files in memory (tmpfs, shared memory) were %s of the %s; without swap the kernel cannot reclaim them.", size(shmem), size(c.ledger.Total))
	f.Detail = "Cause: shared memory, not the Go heap."
	f.Because = []string{"the kernel counts it apart"}
	f.Why = []Why{{Text: "a file written to /dev/shm or another tmpfs is charged as memory until it is deleted", Evidence: []string{"ledger"}}}
	return f
}
