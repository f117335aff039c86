package watch

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// faultBook is what is known of the page faults of one program.
type faultBook struct {
	p       *process
	target  faultprofile.Target
	pagemap *procfs.Pagemap // nil: no huge pages, or they are not told
	mapper  procfs.Mapper
	memory  procfs.MemoryFiles
	areas   []area
	ranges  []sample.PageRange
	missed  time.Time // when an address was met last that lies in no area
	cells   map[string]*faultCell
	order   []*faultCell
	key     []byte
	pcs     []uint64
	native  []uint64
	code    *codeMap
	made    made
	waiting []waitingFault // samples that came before it could be told what they touched
	over    uint64         // faults of those for which there was no room among these
	from    time.Time
	seen    uint64 // samples
	bad     uint64 // of these, whose thread had no sensible g
}

// area is a range of addresses whose pages are of one kind.
type area struct {
	start, end uint64
	kind       sample.ResidentKind
}

// faultCell is the samples of one stack.
type faultCell struct {
	kind    sample.ResidentKind
	inGo    bool
	native  []uint64 // C's frames, innermost first
	pcs     []uint64 // Go's
	maker   *maker   // who mapped the memory, nil: not known, or an allocator
	samples uint64
	bytes   sample.Bytes
	told    faultCount
}

type faultCount struct {
	samples uint64
	bytes   sample.Bytes
}

// faultDelta is what was added to a cell between two instants.
type faultDelta struct {
	*faultCell
	faultCount
	from, at time.Time
}

func newFaultBook(p *process, t faultprofile.Target) *faultBook {
	return &faultBook{p: p, target: t, cells: map[string]*faultCell{}, from: time.Now(), code: p.codeMap(t)}
}

func (b *faultBook) close() {
	if b.pagemap != nil {
		b.pagemap.Close()
	}
}

// meet counts one sample, or keeps it until it can be told which memory is Go's: until the runtime
// is read, and until the mappings are read again where it lies in none that is known.
func (b *faultBook) meet(one *faultprofile.Sample, s *Source) {
	if one.Mapped > 0 {
		b.meetMapping(one, s)
		return
	}
	b.seen++
	if one.BadG {
		b.bad++
	}
	if b.seen == faultsPatience && b.bad > b.seen/2 {
		s.gap(b.p.key, faultsWhat+" in "+b.p.program.Name, errors.New("its threads do not keep their g where its code says"))
	}
	native, pcs := b.stackOf(one)
	w := waitingFault{address: one.Address, faults: one.Faults, inGo: one.InGo, huge: b.isHuge(one.Address), native: native, pcs: pcs,
		maker: b.made.of(one.Address)}
	switch {
	case b.mayTell(w.address):
		b.take(&w, s)
		return
	case len(b.waiting) >= maxFaultsWaiting && b.p.runtime != nil:
		b.catchUp(s)
	case len(b.waiting) >= maxFaultsWaiting:
		b.over += w.faults // the others will stand for it
		return
	}
	w.native, w.pcs = slices.Clone(native), slices.Clone(pcs)
	b.waiting = append(b.waiting, w)
}

// waitingFault is a sample whose page cannot be told yet what it is used for.
type waitingFault struct {
	address, faults uint64
	inGo, huge      bool
	native, pcs     []uint64
	maker           *maker
}

// mayTell says whether what an address is used for is known, or may be looked up now.
func (b *faultBook) mayTell(addr uint64) bool {
	if b.p.runtime == nil {
		return false
	}
	_, known := b.lookUp(addr)
	return known || time.Since(b.missed) >= areasEvery
}

// catchUp counts the samples that waited, and lets them stand for those for which there was no room.
func (b *faultBook) catchUp(s *Source) {
	waiting := b.waiting
	b.waiting = b.waiting[:0]
	if len(waiting) == 0 {
		return
	}
	b.readAreas()
	whole := uint64(0)
	for i := range waiting {
		whole += waiting[i].faults
	}
	met, given := uint64(0), uint64(0)
	for i := range waiting {
		w := &waiting[i]
		met += w.faults
		more := b.over*met/max(1, whole) - given
		given += more
		w.faults += more
		b.take(w, s)
		*w = waitingFault{}
	}
	b.over = 0
}

// take counts one sample.
func (b *faultBook) take(one *waitingFault, s *Source) {
	c := b.cell(b.kindOf(one.address), one)
	c.samples++
	size := uint64(4 << 10)
	if one.huge && c.kind != sample.ResidentFile {
		size = procfs.HugePageSize
	}
	bytes := sample.Bytes(one.faults * size)
	c.bytes += bytes
	s.faults.batch = append(s.faults.batch, faultAdded{c, bytes})
}

// isHuge says whether a fault brought a huge page. It is asked at once: the kernel may split it.
func (b *faultBook) isHuge(addr uint64) bool {
	if b.pagemap == nil {
		return false
	}
	huge, err := b.pagemap.IsHuge(addr)
	return err == nil && huge
}

// stackOf is a sample's: C's frames, innermost first, and Go's. Both are valid until the next.
func (b *faultBook) stackOf(one *faultprofile.Sample) (native, pcs []uint64) {
	b.pcs = b.pcs[:0]
	if one.InGo {
		b.pcs = append(append(b.pcs, one.IP), b.skipped(one)...)
	} else {
		b.native = faultprofile.Unwind(b.native[:0], &one.Place, b.code, b.target.Text, b.target.Etext)
		native = b.native
	}
	b.pcs = append(b.pcs, one.PCs...)
	return native, b.pcs
}

// cell is the one of a sample's stack.
func (b *faultBook) cell(k sample.ResidentKind, one *waitingFault) *faultCell {
	native, pcs := one.native, one.pcs
	who := one.maker
	if k != sample.ResidentNative && k != sample.ResidentShared {
		who = nil
	}
	b.key = append(b.key[:0], k[0])
	if one.inGo {
		b.key = append(b.key, 'g')
	}
	if who != nil {
		b.key = binary.LittleEndian.AppendUint16(append(b.key, 'm'), uint16(who.number))
	}
	for _, pc := range native {
		b.key = binary.LittleEndian.AppendUint64(b.key, pc)
	}
	b.key = append(b.key, '/')
	for _, pc := range pcs {
		b.key = binary.LittleEndian.AppendUint64(b.key, pc)
	}
	c := b.cells[string(b.key)]
	if c == nil && len(b.order) >= maxFaultStacks {
		b.key = append(b.key[:0], k[0]) // too many: one without a stack
		c, native, pcs, who = b.cells[string(b.key)], nil, nil, nil
	}
	if c == nil {
		c = &faultCell{kind: k, inGo: one.inGo, native: slices.Clone(native), pcs: slices.Clone(pcs), maker: who}
		b.cells[string(b.key)] = c
		b.order = append(b.order, c)
	}
	return c
}

// skipped is the caller that a walk of frame pointers misses where the innermost function has
// no frame, or not yet: its return address is on top of the stack.
func (b *faultBook) skipped(one *faultprofile.Sample) []uint64 {
	fn, ok := b.p.bin.FuncAt(one.IP - b.p.bias)
	if !ok {
		return nil
	}
	delta, ok := fn.SPDelta(one.IP - b.p.bias)
	if !ok || delta < 0 || int(delta)+8 > len(one.Stack) || one.BP == one.SP+uint64(delta)-8 {
		return nil
	}
	ret := binary.LittleEndian.Uint64(one.Stack[delta:])
	if ret < b.target.Text || ret >= b.target.Etext {
		return nil
	}
	return []uint64{ret}
}

// kindOf is what the page of an address is used for.
func (b *faultBook) kindOf(addr uint64) sample.ResidentKind {
	if k, ok := b.lookUp(addr); ok {
		return k
	}
	if time.Since(b.missed) >= areasEvery {
		b.readAreas()
	}
	k, ok := b.lookUp(addr)
	if !ok {
		k = sample.ResidentNative // mapped and gone: Go's runtime never unmaps
	}
	return k
}

func (b *faultBook) lookUp(addr uint64) (sample.ResidentKind, bool) {
	i, found := slices.BinarySearchFunc(b.areas, addr, func(a area, addr uint64) int { return cmp.Compare(a.start, addr) })
	if !found {
		i--
	}
	if i < 0 || addr >= b.areas[i].end {
		return "", false
	}
	return b.areas[i].kind, true
}

// readAreas reads the process's mappings, and which of them are Go's.
func (b *faultBook) readAreas() {
	b.missed = time.Now()
	mappings, err := b.mapper.Areas(b.p.root, b.p.readTID)
	if err != nil {
		return
	}
	b.areas = b.areas[:0]
	b.ranges = b.ranges[:0]
	if b.p.runtime != nil {
		b.ranges, _ = b.p.runtime.Areas(b.ranges) // what it cannot read counts as native
	}
	b.ranges = slices.DeleteFunc(b.ranges, func(r sample.PageRange) bool { return r.Start >= r.End })
	slices.SortFunc(b.ranges, func(a, b sample.PageRange) int { return cmp.Compare(a.Start, b.Start) })
	left := b.ranges
	isImage := procfs.Images(mappings)
	for i := range mappings {
		m := &mappings[i]
		if b.memory.Has(b.p.root, b.p.readTID, m) {
			b.areas = append(b.areas, area{m.Start, m.End, sample.ResidentShared})
			continue
		}
		if isImage(i) {
			b.areas = append(b.areas, area{m.Start, m.End, sample.ResidentFile})
			continue
		}
		rest := sample.ResidentNative
		if m.Perms[0] != 'r' && m.Perms[1] != 'w' {
			rest = "" // reserved: nothing faults there before it is somebody's, and whose that will be is not known
		}
		left = b.divide(m.Start, m.End, rest, left)
	}
	b.made.keep(b.areas)
}

// divide adds an anonymous mapping: what Go's ranges say of it, and the rest, "": not that. It
// gives the ranges that may reach into the next mapping.
func (b *faultBook) divide(start, end uint64, rest sample.ResidentKind, ranges []sample.PageRange) []sample.PageRange {
	add := func(from, to uint64, kind sample.ResidentKind) {
		if from < to && kind != "" {
			b.areas = append(b.areas, area{from, to, kind})
		}
	}
	for len(ranges) > 0 && ranges[0].End <= start {
		ranges = ranges[1:]
	}
	for _, r := range ranges {
		if r.Start >= end {
			break
		}
		if r.Start > start {
			add(start, r.Start, rest)
			start = r.Start
		}
		kind := sample.ResidentRuntime
		if r.Kind == sample.RangeArena {
			kind = sample.ResidentHeap
		}
		if to := min(r.End, end); to > start {
			add(start, to, kind)
			start = to
		}
	}
	add(start, end, rest)
	return ranges
}

// since is what came since the last call.
func (b *faultBook) since(now time.Time) (list []faultDelta) {
	for _, c := range b.order {
		if n := c.samples - c.told.samples; n > 0 {
			list = append(list, faultDelta{c, faultCount{n, c.bytes - c.told.bytes}, b.from, now})
			c.told = faultCount{c.samples, c.bytes}
		}
	}
	b.from = now
	return list
}

// tell puts it into source terms.
func (b *faultBook) tell(d faultDelta) sample.ResidentGrowth {
	g := sample.ResidentGrowth{From: d.from, At: d.at, Process: b.p.key, Kind: d.kind, Samples: d.samplesAdded(), Bytes: d.faultCount.bytes}
	g.Where = append(b.code.frames(d.native), b.p.symbols.Calls(d.pcs, d.inGo)...)
	if d.maker != nil {
		g.Mapped = append(b.code.frames(d.maker.native), b.p.symbols.Calls(d.maker.pcs, len(d.maker.native) == 0)...)
	}
	return g
}

func (d faultDelta) samplesAdded() uint64 { return d.faultCount.samples }
