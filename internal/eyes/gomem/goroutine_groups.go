package gomem

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// grouping collects goroutines that stand at the same place.
type grouping struct {
	reader *goroutineReader
	mem    memory
	now    int64
	groups []sample.GoroutineGroup
	byHash map[uint64][]int
	seed   maphash.Seed
	key    []byte
	labels []labelCounts // by group
}

// add counts one goroutine. stack is copied.
func (gs *grouping) add(g *goroutine, stack []uint64, frames []uint32) {
	i := gs.find(g, stack, frames)
	group := &gs.groups[i]
	if g.labels != 0 {
		gs.labels[i].add(gs.reader.labels.read(gs.mem, g.labels))
	}
	group.Count++
	if group.Locked.OK = true; g.locked {
		group.Locked.V++
	}
	group.StackBytes += sample.Bytes(less(g.hi, g.lo))
	if g.waitsince > 0 && g.waitsince < gs.now {
		group.Oldest = max(group.Oldest, time.Duration(gs.now-g.waitsince))
	}
}

// find is the index of a goroutine's group, made if there is none.
func (gs *grouping) find(g *goroutine, stack []uint64, frames []uint32) int {
	state, reason := stateNames[g.status], ""
	if g.status == statusWaiting || g.status == statusLeaked {
		reason = gs.reader.reason(gs.mem, g.reason)
	}
	hash := gs.hash(g, stack)
	for _, i := range gs.byHash[hash] {
		group := &gs.groups[i]
		if group.State == state && group.Reason == reason && group.Creator == g.gopc && slices.Equal(group.Stack, stack) {
			return i
		}
	}
	gs.byHash[hash] = append(gs.byHash[hash], len(gs.groups))
	group := sample.GoroutineGroup{State: state, Reason: reason, Stack: slices.Clone(stack), Creator: g.gopc}
	for _, n := range frames {
		group.Frames = append(group.Frames, sample.Bytes(n))
	}
	gs.groups, gs.labels = append(gs.groups, group), append(gs.labels, nil)
	return len(gs.groups) - 1
}

func (gs *grouping) hash(g *goroutine, stack []uint64) uint64 {
	if gs.seed == (maphash.Seed{}) {
		gs.seed = maphash.MakeSeed()
	}
	gs.key = append(gs.key[:0], byte(g.status), g.reason)
	gs.key = binary.LittleEndian.AppendUint64(gs.key, g.gopc)
	for _, pc := range stack {
		gs.key = binary.LittleEndian.AppendUint64(gs.key, pc)
	}
	return maphash.Bytes(gs.seed, gs.key)
}

// sorted is the groups, largest first.
func (gs *grouping) sorted() []sample.GoroutineGroup {
	for i := range gs.groups {
		gs.groups[i].Labels = gs.labels[i].sorted()
	}
	slices.SortStableFunc(gs.groups, func(a, b sample.GoroutineGroup) int { return b.Count - a.Count })
	return gs.groups
}
