package watch

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/capture"
	"github.com/highwater-go/highwater/internal/faultprofile"
	"github.com/highwater-go/highwater/internal/gomem"
	"github.com/highwater-go/highwater/internal/procfs"
	"github.com/highwater-go/highwater/internal/sample"
)

const (
	// faultsWhat names the profile of page faults in a gap.
	faultsWhat = "who made resident memory grow"
	// faultsEvery is how often what grew is handed over, beside each moment.
	faultsEvery = 10 * time.Second
	// faultsAtOnce bounds the samples that one tick looks at.
	faultsAtOnce = 4096
	// maxFaultStacks bounds the stacks of a process that are kept apart.
	maxFaultStacks = 4096
	// maxFaultsWaiting bounds the samples that wait for a look at the mappings, and areasEvery
	// is the least time between two.
	maxFaultsWaiting = 512
	areasEvery       = 250 * time.Millisecond
	// faultsPatience is after how many samples without any sense a program's are refused.
	faultsPatience = 64
)

// faults is the profile of page faults of a source's programs. All is done under the
// source's lock.
type faults struct {
	profiler *faultprofile.Profiler // nil: none is made
	books    map[int]*faultBook     // by pid
	from     map[int]bool           // processes that were taken in; what they start follows by itself
	since    uint64                 // when the first was, in the clock ticks of sample.ProcessKey
	budget   faultBudget
	next     time.Time // when to hand over
	huge     bool      // the machine gives huge pages
	batch    []faultAdded
	lost     uint64 // samples, so far
}

// GrowthSink is a capture.Sink that keeps what made resident memory grow.
type GrowthSink interface {
	Growth([]sample.ResidentGrowth) error
}

// initFaults readies the profile, if one is wanted.
func (s *Source) initFaults() {
	s.faults = faults{profiler: s.opts.Faults, books: map[int]*faultBook{}, from: map[int]bool{}, huge: procfs.UsesHugePages()}
}

// FaultsAttached is whether a profile of page faults has taken in what it is for: after
// that it needs no right any more.
func (s *Source) FaultsAttached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.profiler == nil || len(s.faults.from) > 0
}

// followFaults takes in a process, and with it all that it will start.
func (s *Source) followFaults(pid int) {
	f := &s.faults
	if f.profiler == nil || f.budget.spent || f.from[pid] {
		return
	}
	if f.from[pid] = true; f.since == 0 {
		f.since = ticksSinceBoot()
	}
	if err := f.profiler.Attach(s.opts.Root, pid); err != nil && !errors.Is(err, procfs.ErrGone) {
		s.gap(s.keyOf(pid), faultsWhat, err)
	}
}

// followFound takes in a process that nothing told of, unless it is known to have been started by
// one that was taken in before.
func (s *Source) followFound(p *process) {
	if s.scope == started || p.beside {
		return
	}
	entered := s.scope == whole && s.live[p.program.Parent] == nil
	if s.faults.since == 0 || p.key.Start < s.faults.since || entered {
		s.followFaults(p.key.PID)
	}
}

// keyOf is a process that is watched; nobody's key where it is not yet.
func (s *Source) keyOf(pid int) sample.ProcessKey {
	if p := s.live[pid]; p != nil {
		return p.key
	}
	return sample.ProcessKey{}
}

// knowFaults begins to keep the samples of a Go program: at its exec where its code alone
// says all, else once its runtime is read.
func (s *Source) knowFaults(p *process) {
	f := &s.faults
	if f.profiler == nil || f.budget.spent || p.bin == nil || p.mem == nil || p.bin.Supported() != nil || f.books[p.key.PID] != nil {
		return
	}
	target, err := faultTarget(p)
	if errors.Is(err, gomem.ErrNotReady) {
		return
	}
	if err == nil {
		err = f.profiler.Know(p.key.PID, target)
	}
	if err != nil {
		s.gap(p.key, faultsWhat+" in "+p.program.Name, err)
		return
	}
	book := newFaultBook(p, target)
	if f.huge {
		book.pagemap, _ = procfs.OpenPagemap(s.opts.Root, p.eye) // nil: huge pages are not told
	}
	f.books[p.key.PID] = book
}

// faultTarget is where a program's runtime keeps what stacks are found by.
func faultTarget(p *process) (t faultprofile.Target, err error) {
	if p.bin.Arch != "amd64" {
		return t, fmt.Errorf("stacks of page faults are found on amd64 alone, and this is %s", p.bin.Arch)
	}
	layout, err := p.bin.Layout()
	if err != nil {
		return t, err
	}
	for _, f := range []struct {
		to         *uint64
		typ, field string
	}{
		{&t.M, "runtime.g", "m"}, {&t.SchedBP, "runtime.g", "sched.bp"}, {&t.SchedSP, "runtime.g", "sched.sp"},
		{&t.Curg, "runtime.m", "curg"}, {&t.G0, "runtime.m", "g0"},
	} {
		at, ok := layout.Offset(f.typ, f.field)
		if !ok {
			return t, fmt.Errorf("%s.%s: not in its layout", f.typ, f.field)
		}
		*f.to = at
	}
	for _, f := range []struct {
		to   *uint64
		name string
	}{{&t.Text, "runtime.text"}, {&t.Etext, "runtime.etext"}} {
		at, err := p.bin.Locate(f.name)
		if err != nil {
			return t, err
		}
		*f.to = at + p.bias
	}
	pc, code, ok := p.bin.Code("runtime.asmcgocall")
	if !ok {
		return t, faultprofile.ErrNoTLS
	}
	t.G, err = faultprofile.TLSOffset(code, pc+p.bias, func(addr uint64) (uint64, error) {
		var b [8]byte
		if p.runtime == nil {
			return 0, gomem.ErrNotReady // the loader may not have written it
		}
		_, err := p.mem.ReadAt(b[:], int64(addr))
		return binary.LittleEndian.Uint64(b[:]), err
	})
	return t, err
}

// drainFaults takes the samples that have come, and ends the profile where it costs too much.
func (s *Source) drainFaults(now time.Time) {
	f := &s.faults
	if f.profiler == nil || len(f.books) == 0 {
		return
	}
	f.batch = f.batch[:0]
	err := f.profiler.Drain(faultsAtOnce, func(one *faultprofile.Sample) {
		if b := f.books[one.PID]; b != nil {
			b.meet(one, s)
		}
	})
	if err != nil {
		s.gap(sample.ProcessKey{}, faultsWhat, err)
	}
	cost := f.profiler.Cost()
	f.makeUp(cost.Lost)
	for _, b := range f.books {
		if len(b.waiting) > 0 && b.mayTell(b.waiting[0].Address) {
			b.catchUp(s)
		}
	}
	if f.budget.charge(now, cost) {
		f.profiler.Stop()
		s.gap(sample.ProcessKey{}, faultsWhat+", from here on", errFaultsCost)
	}
	if !now.Before(f.next) {
		f.next = now.Add(faultsEvery)
		for _, b := range f.books {
			s.giveFaults(b, now)
		}
	}
}

// makeUp lets the samples that have just come stand for those, too, for which there was no
// room since the last time. They are no more samples for that.
func (f *faults) makeUp(lost uint64) {
	missing := lost - f.lost
	f.lost = lost
	if missing == 0 || len(f.batch) == 0 {
		return
	}
	for _, t := range f.batch {
		t.cell.bytes += sample.Bytes(float64(t.bytes) * float64(missing) / float64(len(f.batch)))
	}
}

// faultAdded is what one sample added to a stack.
type faultAdded struct {
	cell  *faultCell
	bytes sample.Bytes
}

// errFaultsCost is why a profile ended before its program.
var errFaultsCost = errors.New("the sampling of page faults took more than 2 % of a processor, and was switched off")

// giveFaults hands over what a program's profile has counted since the last time.
func (s *Source) giveFaults(b *faultBook, at time.Time) {
	if b.p.runtime == nil {
		return // which memory was Go's is not known
	}
	b.catchUp(s)
	list := b.since(at)
	if len(list) == 0 {
		return
	}
	s.later(func(sink capture.Sink) error {
		keeper, ok := sink.(GrowthSink)
		if !ok {
			return nil
		}
		defer b.p.symbols.Release()
		growth := make([]sample.ResidentGrowth, 0, sitesAtOnce)
		for some := range slices.Chunk(list, sitesAtOnce) {
			growth = growth[:0]
			for _, c := range some {
				growth = append(growth, b.tell(c))
			}
			if err := keeper.Growth(growth); err != nil {
				return err
			}
		}
		return nil
	})
}

// giveFaultsOf hands over what the programs of a moment have.
func (s *Source) giveFaultsOf(procs []*process, at time.Time) {
	for _, p := range procs {
		if b := s.faults.books[p.key.PID]; b != nil && b.p == p {
			s.giveFaults(b, at)
		}
	}
}

// forgetFaults ends the profile of a program that is no more.
func (s *Source) forgetFaults(p *process) {
	b := s.faults.books[p.key.PID]
	if b == nil || b.p != p {
		return
	}
	s.drainFaults(time.Now())
	s.giveFaults(b, time.Now())
	s.faults.profiler.Forget(p.key.PID)
	delete(s.faults.books, p.key.PID)
	s.later(func(capture.Sink) error { b.close(); return nil })
}

// faultBudget is what the profile may cost the programs: 2 % of a processor's time, and
// at once no more than faultCredit, so that a program may start.
type faultBudget struct {
	last   time.Time
	cost   time.Duration // at last
	credit time.Duration
	spent  bool
}

const (
	faultShare  = 50 // a fiftieth
	faultCredit = 500 * time.Millisecond
	// faultCost is what the event costs at each fault, sampled or not, beside the time in
	// the BPF program: measured, docs/native.md.
	faultCost = 200 * time.Nanosecond
)

// charge says whether the budget is spent now, once.
func (b *faultBudget) charge(now time.Time, c faultprofile.Cost) bool {
	if b.spent {
		return false
	}
	cost := time.Duration(c.Nanos) + time.Duration(c.Faults)*faultCost
	if b.last.IsZero() {
		b.credit = faultCredit
	} else {
		b.credit = min(b.credit+now.Sub(b.last)/faultShare, faultCredit) - (cost - b.cost)
	}
	b.last, b.cost = now, cost
	b.spent = b.credit < 0
	return b.spent
}

// faultBook is what is known of the page faults of one program.
type faultBook struct {
	p       *process
	target  faultprofile.Target
	pagemap *procfs.Pagemap // nil: no huge pages, or they are not told
	mapper  procfs.Mapper
	areas   []area
	ranges  []sample.PageRange
	missed  time.Time // when an address was met last that lies in no area
	cells   map[string]*faultCell
	order   []*faultCell
	key     []byte
	pcs     []uint64
	native  []uint64
	code    *codeMap
	waiting []faultprofile.Sample // that came before it could be told what they touched
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
	if !b.mayTell(one.Address) && len(b.waiting) < maxFaultsWaiting {
		kept := *one
		kept.PCs, kept.Stack = slices.Clone(one.PCs), slices.Clone(one.Stack)
		b.waiting = append(b.waiting, kept)
		return
	}
	b.take(one, s)
}

// mayTell says whether what an address is used for is known, or may be looked up now.
func (b *faultBook) mayTell(addr uint64) bool {
	if b.p.runtime == nil {
		return false
	}
	_, known := b.lookUp(addr)
	return known || time.Since(b.missed) >= areasEvery
}

// catchUp counts the samples that waited.
func (b *faultBook) catchUp(s *Source) {
	waiting := b.waiting
	b.waiting = nil
	if len(waiting) > 0 {
		b.readAreas()
	}
	for i := range waiting {
		b.take(&waiting[i], s)
	}
}

// take counts one sample.
func (b *faultBook) take(one *faultprofile.Sample, s *Source) {
	b.seen++
	if one.BadG {
		b.bad++
	}
	if b.seen == faultsPatience && b.bad > b.seen/2 {
		s.gap(b.p.key, faultsWhat+" in "+b.p.program.Name, errors.New("its threads do not keep their g where its code says"))
	}
	c := b.cell(b.kindOf(one.Address), one)
	c.samples++
	size := uint64(4 << 10)
	if b.isHuge(c.kind, one.Address) {
		size = procfs.HugePageSize
	}
	bytes := sample.Bytes(one.Faults * size)
	c.bytes += bytes
	s.faults.batch = append(s.faults.batch, faultAdded{c, bytes})
}

// isHuge says whether a fault brought a huge page.
func (b *faultBook) isHuge(k sample.ResidentKind, addr uint64) bool {
	if b.pagemap == nil || k == sample.ResidentFile {
		return false
	}
	huge, err := b.pagemap.IsHuge(addr)
	return err == nil && huge
}

// cell is the one of a sample's stack.
func (b *faultBook) cell(k sample.ResidentKind, one *faultprofile.Sample) *faultCell {
	var native []uint64
	b.pcs = b.pcs[:0]
	if one.InGo {
		b.pcs = append(append(b.pcs, one.IP), b.skipped(one)...)
	} else {
		b.native = faultprofile.Unwind(b.native[:0], &one.Place, b.code, b.target.Text, b.target.Etext)
		native = b.native
	}
	b.pcs = append(b.pcs, one.PCs...)
	b.key = append(b.key[:0], k[0])
	if one.InGo {
		b.key = append(b.key, 'g')
	}
	for _, pc := range native {
		b.key = binary.LittleEndian.AppendUint64(b.key, pc)
	}
	b.key = append(b.key, '/')
	for _, pc := range b.pcs {
		b.key = binary.LittleEndian.AppendUint64(b.key, pc)
	}
	c := b.cells[string(b.key)]
	if c == nil && len(b.order) >= maxFaultStacks {
		b.key = append(b.key[:0], k[0]) // too many: one without a stack
		c, native, b.pcs = b.cells[string(b.key)], nil, b.pcs[:0]
	}
	if c == nil {
		c = &faultCell{kind: k, inGo: one.InGo, native: slices.Clone(native), pcs: slices.Clone(b.pcs)}
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
	b.areas = b.areas[:0]
	mappings, err := b.mapper.Areas(b.p.root, b.p.eye)
	if err != nil {
		return
	}
	b.ranges = b.ranges[:0]
	if b.p.runtime != nil {
		b.ranges, _ = b.p.runtime.Areas(b.ranges) // what it cannot read counts as native
	}
	b.ranges = slices.DeleteFunc(b.ranges, func(r sample.PageRange) bool { return r.Start >= r.End })
	slices.SortFunc(b.ranges, func(a, b sample.PageRange) int { return cmp.Compare(a.Start, b.Start) })
	left := b.ranges
	for i := range mappings {
		m := &mappings[i]
		if procfs.IsImage(mappings, i) {
			b.areas = append(b.areas, area{m.Start, m.End, sample.ResidentFile})
			continue
		}
		left = b.divide(m.Start, m.End, left)
	}
}

// divide adds an anonymous mapping: what Go's ranges say of it, and the rest as native. It
// gives the ranges that may reach into the next mapping.
func (b *faultBook) divide(start, end uint64, ranges []sample.PageRange) []sample.PageRange {
	for len(ranges) > 0 && ranges[0].End <= start {
		ranges = ranges[1:]
	}
	for _, r := range ranges {
		if r.Start >= end {
			break
		}
		if r.Start > start {
			b.areas = append(b.areas, area{start, r.Start, sample.ResidentNative})
			start = r.Start
		}
		kind := sample.ResidentRuntime
		if r.Kind == sample.RangeArena {
			kind = sample.ResidentHeap
		}
		if to := min(r.End, end); to > start {
			b.areas = append(b.areas, area{start, to, kind})
			start = to
		}
	}
	if start < end {
		b.areas = append(b.areas, area{start, end, sample.ResidentNative})
	}
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
	return g
}

func (d faultDelta) samplesAdded() uint64 { return d.faultCount.samples }
