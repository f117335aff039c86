package watch

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	// nativeWhat names the profile of C's live blocks in a gap.
	nativeWhat = "live native bytes by line"
	// nativeAtOnce bounds the events that one tick looks at.
	nativeAtOnce = 1 << 16
	// maxNativeStacks bounds the stacks of a process that are kept apart.
	maxNativeStacks = 4096
)

// natives is the profile of C's live blocks of a source's programs. All is done under the source's
// lock.
type natives struct {
	profiler *faultprofile.AllocProfiler // nil: none is made
	books    map[int]*nativeBook         // by pid
	blocks   map[uint64]*nativeBlock     // sampled ones that are not freed, by the sample's number
	budget   callBudget
	cost     faultprofile.AllocCost
	next     time.Time // when to hand over
	ended    string    // why the probes were taken out
}

// nativeBlock is a sampled block, or a call that has not returned yet.
type nativeBlock struct {
	cell           *nativeCell
	address        uint64 // 0: not given yet
	at             time.Time
	bytes, objects float64 // that it stands for
	unsure         float64 // the variance of bytes
}

// nativeBook is what is known of the blocks of one program.
type nativeBook struct {
	p      *process
	target faultprofile.Target
	code   *codeMap
	since  time.Time
	probed map[string]bool // files, by how they are mapped
	ranges [][2]uint64     // code of the functions that have probes
	slow   bool            // a probe must be stepped over
	// foreseen means that what it will load has probes; known: all that it had loaded when its runtime had begun.
	foreseen, known bool
	cells           map[string]*nativeCell
	order           []*nativeCell
	key             []byte
	pcs             []uint64
}

// knowNative puts probes into a Go program: at its exec, as far as it is known then what it will
// load, and once its runtime has begun.
func (s *Source) knowNative(p *process) {
	n := &s.native
	if n.profiler == nil || n.ended != "" || p.bin == nil || p.mem == nil || p.bin.Supported() != nil {
		return
	}
	b := n.books[p.key.PID]
	if b == nil {
		var err error
		if b, err = s.openNative(p); errors.Is(err, gomem.ErrNotReady) {
			return
		} else if err != nil {
			s.gap(p.key, nativeWhat+" of "+p.program.Name, err)
			return
		}
		n.books[p.key.PID] = b
	}
	s.probeNative(b)
}

func (s *Source) openNative(p *process) (*nativeBook, error) {
	target, err := faultTarget(p)
	if err != nil {
		return nil, err
	}
	if err := s.native.profiler.Know(p.key.PID, target); err != nil {
		return nil, err
	}
	return &nativeBook{p: p, target: target, code: p.codeMap(target), since: time.Now(), probed: map[string]bool{}, cells: map[string]*nativeCell{}}, nil
}

// probeNative puts probes on the allocators that were not met before.
func (s *Source) probeNative(b *nativeBook) {
	for _, part := range b.code.images() {
		b.probe(s, part)
	}
	if b.p.runtime == nil {
		if !b.foreseen {
			for _, part := range b.p.toBeLoaded() {
				b.probe(s, part)
				part.image.Close()
			}
		}
		b.foreseen = true
		return
	}
	if !b.known && !s.native.profiler.Attached(b.p.key.PID) {
		s.gap(b.p.key, nativeWhat+" of "+b.p.program.Name, errNoAllocator)
	}
	b.known = true
}

// errNoAllocator is why a program has no probes.
var errNoAllocator = errors.New("no file that it has mapped has functions malloc and free in its symbols: it uses no C, or C is linked in statically and the symbols were stripped, for which page faults are sampled all the same")

// probe puts probes into a file of the program, unless that was done, or it has no allocator.
func (b *nativeBook) probe(s *Source, part codePart) {
	id := part.image.ID()
	if b.probed[id] && part.start == 0 {
		return
	}
	a := part.image.Allocator()
	if a == nil {
		return
	}
	if part.start != 0 {
		b.addRanges(a, part.bias)
	}
	if b.probed[id] {
		return
	}
	b.probed[id] = true
	for _, one := range a.Probes {
		b.slow = b.slow || one.Stepped
	}
	if err := s.native.profiler.Attach(b.p.key.PID, part.path, a.Probes); err != nil {
		s.gap(b.p.key, nativeWhat+" of "+b.p.program.Name, err)
	}
}

func (b *nativeBook) addRanges(a *faultprofile.Allocator, bias uint64) {
	for _, r := range a.Ranges {
		r = [2]uint64{r[0] + bias, r[1] + bias}
		if !slices.Contains(b.ranges, r) {
			b.ranges = append(b.ranges, r)
		}
	}
}

// drainNative takes the events that have come, and takes the probes out where they cost too much.
func (s *Source) drainNative(now time.Time) {
	n := &s.native
	if n.profiler == nil || len(n.books) == 0 {
		return
	}
	for _, b := range n.books {
		if !b.known {
			s.probeNative(b) // before the first stacks are found
		}
	}
	var batch []*nativeBlock
	err := n.profiler.Drain(nativeAtOnce, func(e *faultprofile.AllocEvent) {
		if block := n.see(e, now); block != nil {
			batch = append(batch, block)
		}
	})
	if err != nil {
		s.gap(sample.ProcessKey{}, nativeWhat, err)
	}
	cost := n.profiler.Cost()
	n.makeUp(batch, cost.Lost-n.cost.Lost)
	if cost.LostEvents != n.cost.LostEvents {
		n.reconcile()
	}
	n.cost = cost
	s.chargeNative(now, cost)
	if !now.Before(n.next) {
		n.next = now.Add(faultsEvery)
		for _, b := range n.books {
			if n.ended == "" && b.p.runtime != nil {
				s.probeNative(b) // what was loaded meanwhile
			}
			s.giveNative(b, now)
		}
	}
}

// see notes an event, and gives the block that it has sampled, if any.
func (n *natives) see(e *faultprofile.AllocEvent, now time.Time) *nativeBlock {
	switch e.Kind {
	case faultprofile.Given:
		n.given(e.ID, e.Block)
	case faultprofile.Freed:
		n.freed(e.ID)
	case faultprofile.Sampled:
		b := n.books[e.PID]
		if b == nil {
			return nil
		}
		block := b.sampled(e, n.profiler.Interval(), now)
		if block != nil {
			n.blocks[e.ID] = block
		}
		return block
	}
	return nil
}

// chargeNative takes the probes out where they cost too much.
func (s *Source) chargeNative(now time.Time, cost faultprofile.AllocCost) {
	n := &s.native
	slow := false
	for _, b := range n.books {
		slow = slow || b.slow
	}
	if n.ended != "" || !n.budget.charge(now, cost, slow) {
		return
	}
	n.profiler.Stop()
	n.ended = n.budget.why
	s.gap(sample.ProcessKey{}, nativeWhat+", from here on", errors.New(n.ended))
	s.say("--native=live ends here: %s", n.ended)
	for _, b := range n.books {
		s.giveNative(b, now)
	}
}

// given notes where a sampled block is; a failed call is none.
func (n *natives) given(id, address uint64) {
	block := n.blocks[id]
	switch {
	case block == nil || block.address != 0:
		return
	case address == 0:
		block.cell.allocated -= block.bytes
		delete(n.blocks, id)
		return
	}
	block.address = address
	block.cell.add(block, 1)
}

func (n *natives) freed(id uint64) {
	block := n.blocks[id]
	if block == nil {
		return
	}
	if block.address != 0 {
		block.cell.add(block, -1)
	}
	delete(n.blocks, id)
}

// makeUp lets the blocks that were just sampled stand for those, too, for which there was no room.
func (n *natives) makeUp(batch []*nativeBlock, lost uint64) {
	if lost == 0 || len(batch) == 0 {
		return
	}
	more := float64(lost) / float64(len(batch))
	for _, b := range batch {
		extra := nativeBlock{cell: b.cell, bytes: b.bytes * more, objects: b.objects * more, unsure: b.unsure * more * (2 + more)}
		b.cell.allocated += extra.bytes
		b.bytes, b.objects, b.unsure = b.bytes+extra.bytes, b.objects+extra.objects, b.unsure+extra.unsure
		if b.address != 0 { // it counts already, and it may be freed by now: then this is taken off again
			b.cell.bytes += extra.bytes
			b.cell.objects += extra.objects
			b.cell.unsure += extra.unsure
		}
	}
}

// reconcile asks the kernel which blocks are live, as what it told of some was lost.
func (n *natives) reconcile() {
	live := map[uint64]bool{}
	if n.profiler.Live(func(id uint64) { live[id] = true }) != nil {
		return // the next time
	}
	for id, block := range n.blocks {
		switch {
		case block.address != 0 && !live[id]:
			n.freed(id)
		case block.address == 0 && live[id]:
			n.given(id, 1)
		}
	}
}

// sampled is a new block, nil for one that an allocator asks for on its own behalf, as calloc
// of malloc.
func (b *nativeBook) sampled(e *faultprofile.AllocEvent, interval uint64, now time.Time) *nativeBlock {
	if len(e.Stack) >= 8 {
		ret := binary.LittleEndian.Uint64(e.Stack)
		if slices.ContainsFunc(b.ranges, func(r [2]uint64) bool { return ret >= r[0] && ret < r[1] }) {
			return nil
		}
	}
	// A block of n bytes is met with the probability 1-exp(-n/interval).
	met := -math.Expm1(-float64(e.Size) / float64(interval))
	if !(met > 0) {
		return nil
	}
	block := &nativeBlock{cell: b.cell(&e.Place), at: now, objects: 1 / met, bytes: float64(e.Size) / met}
	block.unsure = block.bytes * block.bytes * (1 - met)
	block.cell.allocated += block.bytes
	block.cell.changed = true
	return block
}

// giveNative hands over the stacks of a program whose live blocks have changed since the last time.
func (s *Source) giveNative(b *nativeBook, at time.Time) {
	n := &s.native
	if len(b.order) == 0 && b.p.runtime == nil {
		return
	}
	n.findBirths(b)
	var list []sample.NativeLive
	var cells []*nativeCell
	for _, c := range b.order {
		if c.changed {
			list, cells = append(list, c.told(at)), append(cells, c)
			c.changed = false
		}
		c.births = c.births[:0]
	}
	head := sample.NativeReading{At: at, Process: b.p.key, Since: b.since, Interval: sample.Bytes(n.profiler.Interval()),
		Allocs: n.cost.Allocs, Frees: n.cost.Frees, Lost: n.cost.Lost, Ended: n.ended}
	s.later(func(sink capture.Sink) error {
		keeper, ok := sink.(capture.NativeSink)
		if !ok {
			return nil
		}
		defer b.p.symbols.Release()
		for i, c := range cells {
			list[i].Where = append(b.code.frames(c.native), b.p.symbols.Calls(c.pcs, false)...)
		}
		return keeper.Native(head, list)
	})
}

// findBirths notes at each stack of a program when its live blocks were allocated.
func (n *natives) findBirths(b *nativeBook) {
	for _, block := range n.blocks {
		if block.cell.book == b && block.cell.changed && block.address != 0 {
			block.cell.births = append(block.cell.births, block.at)
		}
	}
}

// giveNativeOf hands over what the programs of a moment have.
func (s *Source) giveNativeOf(procs []*process, at time.Time) {
	for _, p := range procs {
		if b := s.native.books[p.key.PID]; b != nil && b.p == p {
			s.giveNative(b, at)
		}
	}
}

// forgetNative ends the profile of a program that is no more.
func (s *Source) forgetNative(p *process) {
	n := &s.native
	b := n.books[p.key.PID]
	if b == nil || b.p != p {
		return
	}
	s.drainNative(time.Now())
	n.profiler.Detach(p.key.PID)
	n.profiler.Forget(p.key.PID)
	for id, block := range n.blocks {
		if block.cell.book == b {
			n.profiler.Release(p.key.PID, block.address)
			delete(n.blocks, id)
		}
	}
	delete(n.books, p.key.PID)
}
