package faultprofile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"
)

// AllocProfiler is the BPF programs at the functions of allocators, and what they keep of
// blocks. Its methods are not safe for concurrent use.
type AllocProfiler struct {
	interval      uint64
	maps          []*ebpf.Map
	targets, live *ebpf.Map
	counts        *ebpf.Map
	allocs, frees *ebpf.Program
	reader        *ringbuf.Reader
	record        ringbuf.Record
	event         AllocEvent
	links         map[int][]int // descriptors by process
}

// ErrNoSessions is why a kernel cannot have them.
var ErrNoSessions = errors.New("the kernel has no uprobe sessions, which came with Linux 6.13; page faults are sampled without them")

// Kinds of attachment in the kernel (enum bpf_attach_type, Linux 6.13).
const (
	attachUprobes = 48
	attachSession = 57
)

// NewAllocs loads the programs, which takes CAP_BPF and CAP_PERFMON, or root, and Linux 6.13. Nothing is
// probed before Attach. An interval of 0 is AllocInterval; of 1, every allocation is sampled. The caller
// closes it.
func NewAllocs(interval uint64) (p *AllocProfiler, err error) {
	if interval == 0 {
		interval = AllocInterval
	}
	p = &AllocProfiler{interval: interval, links: map[int][]int{}}
	if err := p.load(); err != nil {
		_ = p.Close() // the reason is the first
		return nil, err
	}
	return p, nil
}

func (p *AllocProfiler) load() error {
	l, err := describeAllocs()
	if err != nil {
		return err
	}
	if err := p.makeMaps(&l); err != nil {
		return err
	}
	if p.allocs, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "allocs", Type: ebpf.Kprobe, AttachType: attachSession, Instructions: allocInstructions(l),
		License: "GPL"}); err != nil {
		return fmt.Errorf("load the program at allocations: %w", err)
	}
	if p.frees, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "frees", Type: ebpf.Kprobe, AttachType: attachUprobes, Instructions: freeInstructions(l),
		License: "GPL"}); err != nil {
		return fmt.Errorf("load the program at frees: %w", err)
	}
	return nil
}

func (p *AllocProfiler) makeMaps(l *allocLayout) (err error) {
	make := func(fd *int, spec ebpf.MapSpec) *ebpf.Map {
		m, failed := ebpf.NewMap(&spec)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("make a map: %w", failed))
			return nil
		}
		p.maps = append(p.maps, m)
		*fd = m.FD()
		return m
	}
	const (
		noPrealloc = 1 // BPF_F_NO_PREALLOC
		readOnly   = 1 << 7
	)
	p.targets = make(&l.targets, ebpf.MapSpec{Name: "alloc_targets", Type: ebpf.Hash, KeySize: 4, ValueSize: targetSize, MaxEntries: maxTargets})
	if err != nil {
		return err // of missing rights: once
	}
	p.counts = make(&l.statistics, ebpf.MapSpec{Name: "alloc_counts", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: allocSize, MaxEntries: 1})
	make(&l.numbers, ebpf.MapSpec{Name: "alloc_numbers", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	p.live = make(&l.live, ebpf.MapSpec{Name: "alloc_live", Type: ebpf.Hash, KeySize: 16, ValueSize: 8, MaxEntries: maxLiveBlocks, Flags: noPrealloc})
	distances := make(&l.distances, ebpf.MapSpec{Name: "alloc_gaps", Type: ebpf.Array, KeySize: 4, ValueSize: 8 * gaps, MaxEntries: 1})
	ring := make(&l.ring, ebpf.MapSpec{Name: "alloc_ring", Type: ebpf.RingBuf, MaxEntries: allocRing << min(4, bits.Len64(AllocInterval/(p.interval+1)))})
	if err != nil {
		return err
	}
	if err := distances.Put(uint32(0), p.distances()); err != nil {
		return err
	}
	if err := p.begin(); err != nil {
		return err
	}
	p.reader, err = ringbuf.NewReader(ring)
	return err
}

// distances are those between two samples, in bytes: exponential, so that each byte is as likely
// to be met as any other.
func (p *AllocProfiler) distances() []byte {
	var b []byte
	for i := range gaps {
		d := -math.Log((float64(i)+0.5)/gaps) * float64(p.interval)
		b = binary.LittleEndian.AppendUint64(b, uint64(max(1, math.Round(d))))
	}
	return b
}

// begin draws the first distance of each processor.
func (p *AllocProfiler) begin() error {
	n, err := ebpf.PossibleCPU()
	if err != nil {
		return err
	}
	each := make([][]byte, n)
	for i := range each {
		each[i] = make([]byte, allocSize)
		binary.LittleEndian.PutUint64(each[i], uint64(rand.ExpFloat64()*float64(p.interval)))
	}
	return p.counts.Put(uint32(0), each)
}

// describeAllocs finds what the programs must know of this kernel.
func describeAllocs() (l allocLayout, err error) {
	kernel, err := kernelTypes()
	if err != nil {
		return l, fmt.Errorf("read the kernel's types: %w", err)
	}
	if l.layout, err = describeIn(kernel); err != nil {
		return l, err
	}
	for name, to := range map[string]*int64{"bpf_session_is_return": &l.isReturn, "bpf_session_cookie": &l.cookie} {
		var f *btf.Func
		if err := kernel.TypeByName(name, &f); err != nil {
			return l, ErrNoSessions
		}
		id, err := kernel.TypeID(f)
		if err != nil {
			return l, err
		}
		*to = int64(id)
	}
	return l, nil
}

// Attach puts probes on functions of a file that a process has mapped or will map; path must lead to it.
// It ends with Detach, and with this process.
func (p *AllocProfiler) Attach(pid int, path string, probes []Probe) error {
	var gives, takes []Probe
	for _, one := range probes {
		if one.Kind == Free {
			takes = append(takes, one)
		} else {
			gives = append(gives, one)
		}
	}
	// What takes blocks back first: a block that is sampled must be seen when it goes.
	if err := p.link(pid, p.frees, attachUprobes, path, takes); err != nil {
		return err
	}
	return p.link(pid, p.allocs, attachSession, path, gives)
}

// linkCreate is what BPF_LINK_CREATE takes for uprobes (union bpf_attr, link_create). The library
// that makes the rest knows no sessions.
type linkCreate struct {
	program, target, kind, flags       uint32
	path, offsets, references, cookies uint64
	count, probeFlags, pid, _          uint32
}

func (p *AllocProfiler) link(pid int, program *ebpf.Program, kind uint32, path string, probes []Probe) error {
	const bpfLinkCreate = 28
	if len(probes) == 0 {
		return nil
	}
	name, err := unix.BytePtrFromString(path)
	if err != nil {
		return err
	}
	offsets, cookies := make([]uint64, len(probes)), make([]uint64, len(probes))
	for i, one := range probes {
		offsets[i], cookies[i] = one.Offset, uint64(one.Kind)
	}
	attr := linkCreate{
		program: uint32(program.FD()), kind: kind, count: uint32(len(probes)), pid: uint32(pid),
		path:    uint64(uintptr(unsafe.Pointer(name))),
		offsets: uint64(uintptr(unsafe.Pointer(&offsets[0]))), cookies: uint64(uintptr(unsafe.Pointer(&cookies[0]))),
	}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, bpfLinkCreate, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	runtime.KeepAlive(name)
	runtime.KeepAlive(offsets)
	runtime.KeepAlive(cookies)
	if errno != 0 {
		return fmt.Errorf("probe %s of process %d: %w", probes[0].Function, pid, errno)
	}
	p.links[pid] = append(p.links[pid], int(fd))
	return nil
}

// Attached is whether a process has probes.
func (p *AllocProfiler) Attached(pid int) bool { return len(p.links[pid]) > 0 }

// Detach takes the probes out of a process: the kernel restores its code.
func (p *AllocProfiler) Detach(pid int) {
	for _, fd := range p.links[pid] {
		_ = unix.Close(fd) // nothing is kept in it
	}
	delete(p.links, pid)
}

// Know says how the stacks of a process are found: from now on its allocations are sampled.
func (p *AllocProfiler) Know(pid int, t Target) error { return p.targets.Put(uint32(pid), t.encode()) }

// Forget ends that, and forgets blocks of the process.
func (p *AllocProfiler) Forget(pid int) {
	_ = p.targets.Delete(uint32(pid)) // it may never have been known
}

// Drain hands over the events that have come, most of them at a time at most. It does not wait.
func (p *AllocProfiler) Drain(most int, each func(*AllocEvent)) error {
	return drain(p.reader, &p.record, most, func(raw []byte) {
		if p.event.decode(raw) {
			each(&p.event)
		}
	})
}

// decode takes a record of the ring apart.
func (e *AllocEvent) decode(b []byte) bool {
	word := binary.LittleEndian.Uint64
	if len(b) == eventSize {
		e.Kind, e.ID, e.Block, e.Size = EventKind(b[0]), word(b[8:]), word(b[16:]), 0
		return e.Kind == Given || e.Kind == Freed
	}
	if !e.Place.decode(b) {
		return false
	}
	e.Kind, e.ID, e.Block, e.Size = Sampled, word(b[offAddr:]), 0, word(b[offPeriod:])
	return true
}

// Live calls each with the number of every sampled block that is live by the kernel's own table:
// what is true where events were lost.
func (p *AllocProfiler) Live(each func(id uint64)) error {
	var key [16]byte
	var id uint64
	all := p.live.Iterate()
	for all.Next(&key, &id) {
		each(id)
	}
	return all.Err()
}

// Release forgets a block whose process has ended.
func (p *AllocProfiler) Release(pid int, block uint64) {
	var key [16]byte
	binary.LittleEndian.PutUint64(key[:], block)
	binary.LittleEndian.PutUint64(key[8:], uint64(pid))
	_ = p.live.Delete(key) // it may be gone
}

// Cost is what has been taken so far.
func (p *AllocProfiler) Cost() (c AllocCost) {
	var each [][]byte
	if p.counts.Lookup(uint32(0), &each) != nil {
		return c
	}
	for _, b := range each {
		word := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
		c.Allocs += word(allocCalls)
		c.Frees += word(allocFrees)
		c.Samples += word(allocSamples)
		c.Lost += word(allocLost)
		c.LostEvents += word(allocLostEvents)
		c.Nanos += word(allocNanos)
	}
	return c
}

// Interval is how many bytes there are to a sample, on average.
func (p *AllocProfiler) Interval() uint64 { return p.interval }

// Stop takes the probes out of all processes.
func (p *AllocProfiler) Stop() {
	for pid := range p.links {
		p.Detach(pid)
	}
}

// Close ends it.
func (p *AllocProfiler) Close() error {
	p.Stop()
	var errs []error
	if p.reader != nil {
		errs = append(errs, p.reader.Close())
	}
	for _, program := range []*ebpf.Program{p.allocs, p.frees} {
		if program != nil {
			errs = append(errs, program.Close())
		}
	}
	for _, m := range p.maps {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}
