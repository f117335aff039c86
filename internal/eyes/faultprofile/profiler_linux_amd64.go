package faultprofile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
	"weak"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"
)

// Profiler is one BPF program and the events that it runs at. Its methods are not safe for
// concurrent use.
type Profiler struct {
	period    uint64
	maps      []*ebpf.Map
	targets   *ebpf.Map
	counts    *ebpf.Map
	program   *ebpf.Program
	reader    *ringbuf.Reader
	record    ringbuf.Record
	sample    Sample
	followers []*follower   // at mappings
	unseen    error         // why mappings are not told
	events    map[int][]int // descriptors by process
	opened    int           // all of them
}

// New loads the program, which takes CAP_BPF and CAP_PERFMON, or root, and Linux 5.15.
// Nothing is sampled before Attach. A period of 0 is Period. The caller closes it.
func New(period uint64) (p *Profiler, err error) {
	if period == 0 {
		period = Period
	}
	p = &Profiler{period: period, events: map[int][]int{}}
	if err := p.load(); err != nil {
		_ = p.Close() // the reason is the first
		return nil, olderKernel(err)
	}
	return p, nil
}

// olderKernel is why the program cannot run on this kernel, err itself where the kernel is new enough. Older ones say
// no more than that something is forbidden or invalid: bpf_get_current_task_btf came with 5.11, bpf_task_pt_regs with 5.15.
func olderKernel(err error) error {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return err
	}
	release := unix.ByteSliceToString(u.Release[:])
	if isBefore(release, 5, 15) {
		return fmt.Errorf("needs Linux 5.15, and this is %s", release)
	}
	return err
}

// load makes the maps and the program. What it does not need any more of the kernel's types is
// given back.
func (p *Profiler) load() error {
	kernel, err := kernelTypes()
	if err != nil {
		return fmt.Errorf("read the kernel's types: %w", err)
	}
	l, err := describeIn(kernel)
	if err != nil {
		return err
	}
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
	p.targets = make(&l.targets, ebpf.MapSpec{Name: "fault_targets", Type: ebpf.Hash, KeySize: 4, ValueSize: targetSize, MaxEntries: maxTargets})
	if err != nil {
		return err // of missing rights: once
	}
	p.counts = make(&l.statistics, ebpf.MapSpec{Name: "fault_counts", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: countSize, MaxEntries: 1})
	make(&l.scratch, ebpf.MapSpec{Name: "fault_scratch", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: sampleSize, MaxEntries: 1})
	ring := make(&l.ring, ebpf.MapSpec{Name: "fault_ring", Type: ebpf.RingBuf, MaxEntries: ringSize})
	if err != nil {
		return err
	}
	p.program, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "page_faults", Type: ebpf.PerfEvent, Instructions: instructions(l), License: "GPL"})
	if err != nil {
		return fmt.Errorf("load the program, which needs Linux 5.15: %w", err)
	}
	if err := p.tryEvent(); err != nil {
		return err
	}
	p.followers, p.unseen = loadFollowers(kernel, l)
	p.reader, err = ringbuf.NewReader(ring)
	return err
}

// describeIn finds what the program must know of this kernel.
func describeIn(kernel *btf.Spec) (l layout, err error) {
	var task *btf.Struct
	if err := kernel.TypeByName("task_struct", &task); err != nil {
		return l, err
	}
	thread, of, err := member(task, "thread")
	if err != nil {
		return l, err
	}
	inner, ok := btf.UnderlyingType(of).(*btf.Struct)
	if !ok {
		return l, errors.New("task_struct.thread is no struct")
	}
	fsbase, _, err := member(inner, "fsbase")
	if err != nil {
		return l, err
	}
	if thread+fsbase >= 1<<15 {
		return l, fmt.Errorf("task_struct.thread.fsbase lies at %d", thread+fsbase)
	}
	l.fsbase = int16(thread + fsbase)
	l.pidDevice, l.pidInode, err = namespace()
	return l, err
}

func member(s *btf.Struct, name string) (offset uint32, of btf.Type, err error) {
	for _, m := range s.Members {
		if m.Name == name {
			return m.Offset.Bytes(), m.Type, nil
		}
	}
	return 0, nil, fmt.Errorf("this kernel's %s has no %s", s.Name, name)
}

// namespace is our PID namespace as the kernel compares it; an inode of 0 for the first
// of all.
func namespace() (device, inode uint64, err error) {
	const first = 0xEFFFFFFC // PROC_PID_INIT_INO, include/linux/proc_ns.h
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &st); err != nil {
		return 0, 0, err
	}
	if st.Ino == first {
		return 0, 0, nil
	}
	return uint64(unix.Major(st.Dev))<<20 | uint64(unix.Minor(st.Dev)), st.Ino, nil
}

// Attach samples a process and all that it starts from now on. It takes CAP_PERFMON, and where the
// process is another user's the right to trace it. Samples come of those processes only
// that are known; see Know.
func (p *Profiler) Attach(root string, pid int) error {
	p.followMappings()
	list, err := os.ReadDir(filepath.Join(root, strconv.Itoa(pid), "task"))
	if err != nil {
		return err
	}
	for i, entry := range list {
		tid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if i == maxThreads || p.opened == maxEvents {
			return ErrThreads
		}
		if err := p.attachThread(pid, tid); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// tryEvent runs the program at page faults of nobody but this thread, and ends that: the kernel may
// permit BPF and no events.
func (p *Profiler) tryEvent() error {
	const nobody = -1
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer p.Detach(nobody)
	return p.attachThread(nobody, unix.Gettid())
}

// attachThread opens the event of one thread; threads and processes that it starts get
// their own from the kernel.
func (p *Profiler) attachThread(pid, tid int) error {
	attr := &unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_PAGE_FAULTS,
		Sample: p.period, Sample_type: unix.PERF_SAMPLE_ADDR,
		Bits: unix.PerfBitInherit | unix.PerfBitDisabled,
	}
	attr.Size = uint32(unix.PERF_ATTR_SIZE_VER5)
	fd, err := unix.PerfEventOpen(attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open the event of thread %d: %w", tid, err)
	}
	err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, p.program.FD())
	if err == nil {
		err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0)
	}
	if err != nil {
		_ = unix.Close(fd)
		return fmt.Errorf("run the program at faults of thread %d: %w", tid, err)
	}
	p.events[pid] = append(p.events[pid], fd)
	p.opened++
	return nil
}

// Detach ends what Attach began for a process, and for what that started.
func (p *Profiler) Detach(pid int) {
	for _, fd := range p.events[pid] {
		_ = unix.Close(fd) // an event: nothing is kept in it
		p.opened--
	}
	delete(p.events, pid)
}

// Know says how the stacks of a process are found: from now on its samples count.
func (p *Profiler) Know(pid int, t Target) error {
	return p.targets.Put(uint32(pid), t.encode())
}

func (t Target) encode() []byte {
	value := make([]byte, 0, targetSize)
	for _, v := range []uint64{t.Text, t.Etext, uint64(t.G), t.M, t.Curg, t.G0, t.SchedBP, t.SchedSP, max(LeastMapping, t.Mappings)} {
		value = binary.LittleEndian.AppendUint64(value, v)
	}
	return value
}

// Forget ends the sampling of a process.
func (p *Profiler) Forget(pid int) {
	_ = p.targets.Delete(uint32(pid)) // it may never have been known
}

// Drain hands over the samples that have come, most of them at a time at most. It does not
// wait.
func (p *Profiler) Drain(most int, each func(*Sample)) error {
	return drain(p.reader, &p.record, most, func(raw []byte) {
		if p.sample.decode(raw) {
			each(&p.sample)
		}
	})
}

// drain hands over the records of a ring that have come, most of them at most, and does not wait. record is used for
// each.
func drain(ring *ringbuf.Reader, record *ringbuf.Record, most int, each func(raw []byte)) error {
	ring.SetDeadline(time.Unix(1, 0))
	for range most {
		err := ring.ReadInto(record)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		each(record.RawSample)
	}
	return nil
}

// Cost is what has been taken so far.
func (p *Profiler) Cost() (c Cost) {
	var each [][]byte
	if p.counts.Lookup(uint32(0), &each) != nil {
		return c
	}
	for _, b := range each {
		c.Samples += binary.LittleEndian.Uint64(b[countSamples:])
		c.Lost += binary.LittleEndian.Uint64(b[countLost:])
		c.Nanos += binary.LittleEndian.Uint64(b[countNanos:])
	}
	c.Faults = c.Samples * p.period
	return c
}

// Period is how many faults there are to a sample.
func (p *Profiler) Period() uint64 { return p.period }

// Pause ends the sampling of all processes for a time, those that they start meanwhile among them, or goes on with it.
func (p *Profiler) Pause(on bool) {
	request := uint(unix.PERF_EVENT_IOC_ENABLE)
	if on {
		request = unix.PERF_EVENT_IOC_DISABLE
	}
	for _, fds := range p.events {
		for _, fd := range fds {
			_ = unix.IoctlSetInt(fd, request, 0) // of a thread that has ended, and of those that it started, there is none
		}
	}
}

// Stop ends the sampling of all processes, whoever was to be sampled.
func (p *Profiler) Stop() {
	for pid := range p.events {
		p.Detach(pid)
	}
	p.leaveMappings()
}

// Reset ends the sampling of all processes and forgets what came, so that it is as New
// made it.
func (p *Profiler) Reset() {
	p.Stop()
	var pid uint32
	for range maxTargets {
		if p.targets.NextKey(nil, &pid) != nil {
			break
		}
		p.Forget(int(pid))
	}
	_ = p.Drain(1<<20, func(*Sample) {}) // of nobody any more
}

// Close ends it.
func (p *Profiler) Close() error {
	p.Stop()
	var errs []error
	if p.reader != nil {
		errs = append(errs, p.reader.Close())
	}
	if p.program != nil {
		errs = append(errs, p.program.Close())
	}
	for _, f := range p.followers {
		errs = append(errs, f.program.Close())
	}
	for _, m := range p.maps {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}

// decode takes a record of the ring apart. Its form is our own program's.
func (s *Sample) decode(b []byte) bool {
	if !s.Place.decode(b) {
		return false
	}
	word, flags := binary.LittleEndian.Uint64, binary.LittleEndian.Uint32(b[offFlags:])
	s.Address, s.Faults, s.Mapped, s.Old, s.OldSize = word(b[offAddr:]), word(b[offPeriod:]), 0, 0, 0
	if flags&flagMapped != 0 {
		s.Faults, s.Mapped = 0, s.Faults
	}
	if flags&flagMoved != 0 {
		s.Old, s.OldSize = word(b[offOld:]), word(b[offOldSize:])
	}
	return true
}

func (s *Place) decode(b []byte) bool {
	if len(b) < offStack {
		return false
	}
	word := binary.LittleEndian.Uint64
	half := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	flags, frames, stack := half(offFlags), half(offFrames), half(offStackLen)
	if frames > maxFrames || stack > len(b)-offStack {
		return false
	}
	*s = Place{
		PID: half(offTGID), TID: half(offTID),
		Registers: Registers{
			IP: word(b[offIP:]), SP: word(b[offSP:]), BP: word(b[offBP:]), BX: word(b[offBX:]),
			R12: word(b[offR12:]), R13: word(b[offR13:]), R14: word(b[offR14:]), R15: word(b[offR15:]),
		},
		InGo: flags&flagInGo != 0, NoG: flags&flagNoG != 0, BadG: flags&flagBadG != 0,
		PCs: s.PCs[:0], Stack: b[offStack:][:stack],
	}
	for i := range frames {
		s.PCs = append(s.PCs, word(b[offPCs+8*i:]))
	}
	return true
}

// lastTypes is what kernelTypes read last, as long as somebody uses it.
var lastTypes atomic.Pointer[weak.Pointer[btf.Spec]]

// kernelTypes reads how this kernel's structs are laid out. They are not kept: the
// library's own cache of them would hold some MiB for good.
func kernelTypes() (*btf.Spec, error) {
	if last := lastTypes.Load(); last != nil {
		if kernel := last.Value(); kernel != nil {
			return kernel, nil
		}
	}
	b, err := os.ReadFile("/sys/kernel/btf/vmlinux")
	if err != nil {
		return nil, err
	}
	kernel, err := btf.LoadSpecFromReader(bytes.NewReader(b))
	if err == nil {
		last := weak.Make(kernel)
		lastTypes.Store(&last)
	}
	return kernel, err
}
