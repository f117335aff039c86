package procfs

import (
	"sync"
	"time"
)

// Kin knows which process is whose child, for many that ask: one list of the machine's
// processes for all, and of each process its parent once. It may be used from several
// goroutines.
type Kin struct {
	root string

	mu       sync.Mutex
	births   Births
	parents  map[int]int
	children map[int][]int // by parent, ascending
	at       time.Time     // of the last list, or of the last look that needed none
	whole    time.Time     // when all parents were read
	took     time.Duration
}

// How often the list is made: kinEvery, and for no more than one in kinShare of the time.
// All parents are read anew each kinWhole: a pid may have been given to another process.
const (
	kinEvery = 200 * time.Millisecond
	kinShare = 400
	kinWhole = 30 * time.Second
)

// NewKin is a Kin of a /proc. The caller closes it.
func NewKin(root string) *Kin {
	return &Kin{root: root, births: Births{Root: root}, parents: map[int]int{}}
}

// Below lists the processes below one, as Descendants does, as they were a moment ago.
func (k *Kin) Below(pid int) ([]int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.refresh(time.Now()); err != nil {
		return nil, err
	}
	found := k.children[pid]
	if len(found) == 0 {
		return nil, nil
	}
	seen := map[int]bool{pid: true}
	var all []int
	for found = append([]int(nil), found...); len(found) > 0; {
		next := found[0]
		found = found[1:]
		if seen[next] {
			continue
		}
		seen[next] = true
		all = append(all, next)
		found = append(found, k.children[next]...)
	}
	return all, nil
}

// refresh makes the list anew where a process may have begun.
func (k *Kin) refresh(now time.Time) error {
	if now.Sub(k.at) < max(kinEvery, kinShare*k.took) {
		return nil
	}
	k.at = now
	again := now.Sub(k.whole) >= kinWhole
	if !k.births.Any() && !again {
		return nil
	}
	pids, err := Processes(k.root)
	if err != nil {
		return err
	}
	before := k.parents
	k.parents, k.children = make(map[int]int, len(pids)), map[int][]int{}
	there := make(map[int]bool, len(pids))
	for _, pid := range pids {
		there[pid] = true
	}
	for _, pid := range pids {
		parent, known := before[pid]
		if !known || again || !there[parent] { // whose parent has ended has another now
			if parent, err = Parent(k.root, pid); err != nil {
				continue // it has ended
			}
		}
		k.parents[pid] = parent
		k.children[parent] = append(k.children[parent], pid)
	}
	if again {
		k.whole = now
	}
	k.took = time.Since(now)
	return nil
}

// Close closes its file.
func (k *Kin) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.births.Close()
}
