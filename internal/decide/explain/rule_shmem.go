package explain

import (
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var shmemPage = Page{
	Truth: "tmpfs and shared memory, which the kernel cannot reclaim without swap.",
	Looks: []string{
		"The cgroup's own count of shared memory, apart from page cache.",
		"The files in tmpfs that the program has open or mapped or that lie in its tmpfs mounts, memfds and shared mappings; and which program their pages count for, where rights allow.",
		"Page faults on shared mappings, sampled: the line that mapped or first wrote most of this memory.",
	},
	Blind: []string{
		"Files that could not be read, or not in time: the answer says how much of the memory is named.",
		"A file in tmpfs that another cgroup touched first: the kernel counts the file there.",
		"Which line wrote a file by write(2): that takes no page fault.",
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
	f.Why = []Why{{Text: countsUntil(c.holdersOfFiles(sample.RowShmem)), Evidence: []string{"ledger"}}}
	if whys := c.filesWhy(sample.RowShmem); len(whys) > 0 {
		f.Why, f.Facts = append(whys, f.Why...), append(f.Facts, c.factFiles()...)
	}
	c.blameMapping(&f)
	return f
}

// countsUntil says for how long shared memory counts, of which these are the files, most bytes first.
func countsUntil(files []FileHolder) string {
	if len(files) > 0 && files[0].Kind == string(sample.FileShm) {
		return "shared memory without a file counts as memory until its last mapping is gone"
	}
	return "a file in /dev/shm or another tmpfs counts as memory until it is deleted"
}

// blameMapping puts the line into a finding of shared memory that half of it was mapped or first
// written at, if one was seen. What write(2) puts into a file takes no page fault, and has no line.
func (c *Case) blameMapping(f *Finding) {
	r, _ := ResidentOf(c.Resident, sample.ResidentShared, f.Bytes, c.module(), shown)
	if r == nil || len(r.Lines) == 0 || r.Lines[0].File == "" || r.Lines[0].Bytes*2 < f.Bytes {
		return
	}
	k := r.Lines[0]
	f.Culprit = &Culprit{Place: k.Place, Bytes: min(k.Bytes, f.Bytes), Role: "native"}
	f.Why = slices.Insert(f.Why, 0, Why{Text: k.why(r, "shared memory"), Evidence: []string{"ledger"}})
}
