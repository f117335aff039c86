package gostats

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// groupReader reads what is told of a group of goroutines beside its stack.
type groupReader struct {
	reasons    uint64   // address of runtime.waitReasonStrings
	reasonText []string // by number, as far as they were asked for
	labels     labelReader
}

// attach finds the reasons.
func (gr *groupReader) attach(s *Stats, find *gomem.Resolver) error {
	gr.reasons, gr.labels.inMap = find.Addr("waitReasonStrings"), find.Minor < 24
	return errors.Join(s.r.Why(gomem.FeatureGoroutines), find.Err())
}

// Goroutines returns the goroutines that runtime/pprof's goroutine profile
// shows, so without the runtime's own, in groups that stand at the same place
// for the same reason, largest first.
//
// Stacks are run-time addresses without compiler-made wrappers, innermost
// first. The first is a pc, the others return addresses (pc + 1 where an
// interrupted call has none), so that the line is that of Stack[0] and
// Stack[i]-1. A running goroutine has no stack: its registers are a thread's.
// One that kept moving while it was read has none either. A stack that leads into
// a plugin whose functions cannot be read ends there, with the address in it. Oldest is a lower
// bound: the runtime notes the time when a collection first finds it waiting.
func (s *Stats) Goroutines() ([]sample.GoroutineGroup, error) { return s.GoroutinesAt(nil) }

// GoroutinesAt is Goroutines of a process that stands still, or of a core, with
// the stacks of running goroutines where registers has their threads'.
func (s *Stats) GoroutinesAt(registers gomem.Registers) ([]sample.GoroutineGroup, error) {
	return s.goroutinesBy(registers, false)
}

// GoroutinesAtEnd is Goroutines of a process that is held at its exit, with the stacks of
// those that ended it: a goroutine that called into the runtime, as a panic does, has left its place
// in g.sched. One that ran its own code has none there (runtime/asm_amd64.s, gogo and systemstack
// clear gobuf.sp): of that one the outermost frames are told, on amd64 (unwind_outer.go).
func (s *Stats) GoroutinesAtEnd() ([]sample.GoroutineGroup, error) {
	return s.goroutinesBy(nil, true)
}

func (s *Stats) goroutinesBy(registers gomem.Registers, ended bool) ([]sample.GoroutineGroup, error) {
	if err := s.Why(gomem.FeatureGoroutines); err != nil {
		return nil, err
	}
	all, err := s.r.ReadGoroutines()
	if err != nil {
		return nil, fmt.Errorf("goroutines: %w", err)
	}
	s.groups.labels.sets = make(map[uint64][]label)
	groups := grouping{reader: &s.groups, mem: s.r.Memory(), now: s.r.Now(all), byHash: make(map[uint64][]int)}
	if err := s.r.Unwind(all, registers, ended, groups.add); err != nil {
		return nil, fmt.Errorf("goroutines: %w", err)
	}
	return groups.sorted(), nil
}

// grouping collects goroutines that stand at the same place.
type grouping struct {
	reader *groupReader
	mem    gomem.Memory
	now    int64
	groups []sample.GoroutineGroup
	byHash map[uint64][]int
	seed   maphash.Seed
	key    []byte
	labels []labelCounts // by group
}

// add counts one goroutine. stack is copied.
func (gs *grouping) add(g *gomem.Goroutine, stack []uint64, frames []uint32) {
	i := gs.find(g, stack, frames)
	group := &gs.groups[i]
	if g.Labels != 0 {
		gs.labels[i].add(gs.reader.labels.read(gs.mem, g.Labels))
	}
	group.Count++
	if group.Locked.OK = true; g.Locked {
		group.Locked.V++
	}
	group.IDs = lowest(group.IDs, g.ID)
	group.StackBytes += sample.Bytes(less(g.Hi, g.Lo))
	if g.WaitSince > 0 && g.WaitSince < gs.now {
		group.Oldest = max(group.Oldest, time.Duration(gs.now-g.WaitSince))
	}
}

// lowest puts a number in its place among the lowest of a group.
func lowest(ids []uint64, id uint64) []uint64 {
	if len(ids) == sample.MostIDs {
		if id > ids[len(ids)-1] {
			return ids
		}
		ids = ids[:len(ids)-1]
	}
	at, _ := slices.BinarySearch(ids, id)
	return slices.Insert(ids, at, id)
}

// find is the index of a goroutine's group, made if there is none.
func (gs *grouping) find(g *gomem.Goroutine, stack []uint64, frames []uint32) int {
	state, reason := g.State(), ""
	if g.Waits() {
		reason = gs.reader.reason(gs.mem, g.Reason)
	}
	hash := gs.hash(g, stack)
	for _, i := range gs.byHash[hash] {
		group := &gs.groups[i]
		if group.State == state && group.Reason == reason && group.Creator == g.GoPC && slices.Equal(group.Stack, stack) {
			return i
		}
	}
	gs.byHash[hash] = append(gs.byHash[hash], len(gs.groups))
	group := sample.GoroutineGroup{State: state, Reason: reason, Stack: slices.Clone(stack), Creator: g.GoPC}
	for _, n := range frames {
		group.Frames = append(group.Frames, sample.Bytes(n))
	}
	gs.groups, gs.labels = append(gs.groups, group), append(gs.labels, nil)
	return len(gs.groups) - 1
}

func (gs *grouping) hash(g *gomem.Goroutine, stack []uint64) uint64 {
	if gs.seed == (maphash.Seed{}) {
		gs.seed = maphash.MakeSeed()
	}
	gs.key = append(gs.key[:0], byte(g.Status), g.Reason)
	gs.key = binary.LittleEndian.AppendUint64(gs.key, g.GoPC)
	for _, pc := range stack {
		gs.key = binary.LittleEndian.AppendUint64(gs.key, pc)
	}
	return maphash.Bytes(gs.seed, gs.key)
}

// sorted is the groups, largest first.
func (gs *grouping) sorted() []sample.GoroutineGroup {
	for i := range gs.groups {
		gs.groups[i].Labels = gs.labels[i].sorted()
		if gs.groups[i].Count < sample.FewestNumbered {
			gs.groups[i].IDs = nil
		}
	}
	slices.SortStableFunc(gs.groups, func(a, b sample.GoroutineGroup) int { return b.Count - a.Count })
	return gs.groups
}
