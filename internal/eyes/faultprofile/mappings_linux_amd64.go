package faultprofile

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// Where mappings are told, with the stack that asked for them. Tracepoints of system calls would make every call of every
// process take a slower way; these cost nobody else more than 0.1 µs a mapping.
const (
	// makesMapping is vm_mmap_pgoff(file, addr, len, prot, flag, pgoff), mm/util.c: mmap(2) ends there, with MAP_FIXED or without.
	makesMapping = "vm_mmap_pgoff"
	// findsRoom is the tracepoint at which an address was found, from Linux 5.7 on: vm_unmapped_area(addr, info),
	// include/trace/events/mmap.h. It tells what mremap(2) moves, and serves mmap on kernels that let no program run at
	// a function: MAP_FIXED is not told there.
	findsRoom = "vm_unmapped_area"
)

// What a thread asked for, in struct pt_regs.
const (
	regCall   = 120
	sysMmap   = 9
	sysMremap = 25
	// lastAddress is the highest result of a call that is no error: MAX_ERRNO, include/linux/err.h.
	lastAddress = -4096
)

// follower is a program at a function or a tracepoint of the kernel.
type follower struct {
	program *ebpf.Program
	link    int // by which it runs, -1: it does not
}

// loadFollowers loads the programs at mappings.
func loadFollowers(kernel *btf.Spec, l layout) (list []*follower, err error) {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "mappings", Type: ebpf.Tracing, AttachType: ebpf.AttachTraceFExit, AttachTo: makesMapping,
		Instructions: made(l), License: "GPL"})
	if err == nil {
		list = append(list, &follower{p, -1})
	}
	p, err = loadRoom(kernel, l, len(list) == 0)
	if err == nil {
		list = append(list, &follower{p, -1})
	}
	return list, err
}

// loadRoom loads the program at the tracepoint: for mremap, and for mmap where it is wanted.
func loadRoom(kernel *btf.Spec, l layout, mmap bool) (*ebpf.Program, error) {
	var info *btf.Struct
	if err := kernel.TypeByName("vm_unmapped_area_info", &info); err != nil {
		return nil, err
	}
	length, _, err := member(info, "length")
	if err != nil {
		return nil, err
	}
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "rooms", Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp, AttachTo: findsRoom,
		Instructions: roomFound(l, int16(length), mmap), License: "GPL"})
	if err != nil {
		return nil, fmt.Errorf("load the program at mappings: %w", err)
	}
	return p, nil
}

// made is the program that runs where memory was mapped, by whatever process: it leaves at once where that is
// small, and after one look where the process is not known.
func made(l layout) asm.Instructions {
	const argLength, result = 16, 48
	b := &builder{layout: l}
	b.add(
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R1, asm.R6, argLength, asm.DWord), asm.JLT.Imm(asm.R1, LeastMapping-4095, "exit"),
		asm.LoadMem(asm.R2, asm.R6, result, asm.DWord), asm.JGT.Imm(asm.R2, lastAddress, "exit"),
	)
	b.meet()
	b.add(asm.LoadMem(asm.R1, asm.R0, regCall, asm.DWord), asm.JNE.Imm(asm.R1, sysMmap, "exit")) // execve maps, too
	b.at(result)
	b.sized(asm.LoadMem(asm.R2, asm.R6, argLength, asm.DWord))
	b.tell(asm.Mov.Imm(asm.R2, flagMapped))
	return b.code
}

// old stores what was moved, by the registers of the call at R0, and leaves the new size in R2.
func (b *builder) old() {
	b.add(
		asm.LoadMem(asm.R1, asm.R0, regDI, asm.DWord), asm.StoreMem(asm.R7, offOld, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R0, regSI, asm.DWord), asm.StoreMem(asm.R7, offOldSize, asm.R1, asm.DWord),
		asm.LoadMem(asm.R2, asm.R0, regDX, asm.DWord),
	)
}

// hugePage is what the address of a mapping is rounded to that may get huge pages: the kernel looks for
// so much more room then (__thp_get_unmapped_area, mm/huge_memory.c).
const hugePage = 2 << 20

// Locals of the program at the tracepoint: the length that was asked for, in whole pages, and the flags of the sample.
const (
	atLength = -96
	atFlags  = -104
)

// roomFound is the program that runs where an address was found, by whatever process, as made is.
func roomFound(l layout, length int16, mmap bool) asm.Instructions {
	b := &builder{layout: l}
	b.add(
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord), asm.LoadMem(asm.R1, asm.R1, length, asm.DWord),
		asm.JLT.Imm(asm.R1, LeastMapping, "exit"),
		asm.LoadMem(asm.R2, asm.R6, 0, asm.DWord), asm.JGT.Imm(asm.R2, lastAddress, "exit"),
	)
	b.meet()
	b.asked(mmap)
	b.placed(length)
	b.sized(asm.LoadMem(asm.R2, asm.RFP, atLength, asm.DWord))
	b.tell(asm.LoadMem(asm.R2, asm.RFP, atFlags, asm.DWord))
	return b.code
}

// asked leaves off unless the thread is in mremap(2), or in mmap(2) where that is wanted, and takes how much it asks for.
func (b *builder) asked(mmap bool) {
	ofMmap := "exit"
	if mmap {
		ofMmap = "asked"
	}
	flags := func(f int32) []asm.Instruction {
		return []asm.Instruction{asm.Mov.Imm(asm.R1, f), asm.StoreMem(asm.RFP, atFlags, asm.R1, asm.DWord)}
	}
	b.add(flags(flagMapped)...)
	b.add(
		asm.LoadMem(asm.R1, asm.R0, regCall, asm.DWord), asm.LoadMem(asm.R2, asm.R0, regSI, asm.DWord),
		asm.JEq.Imm(asm.R1, sysMmap, ofMmap), asm.JNE.Imm(asm.R1, sysMremap, "exit"),
	)
	b.add(flags(flagMapped | flagMoved)...)
	b.old()
	b.mark("asked")
	b.add(asm.Add.Imm(asm.R2, 4095), asm.And.Imm(asm.R2, -4096), asm.StoreMem(asm.RFP, atLength, asm.R2, asm.DWord))
}

// placed stores where the mapping will be: where room was found, or where the first huge page begins
// in room for one more of those.
func (b *builder) placed(length int16) {
	b.add(
		asm.LoadMem(asm.R3, asm.R6, 0, asm.DWord),
		asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord), asm.LoadMem(asm.R1, asm.R1, length, asm.DWord),
		asm.LoadMem(asm.R2, asm.RFP, atLength, asm.DWord), asm.JEq.Reg(asm.R1, asm.R2, "placed"),
		asm.Add.Imm(asm.R3, hugePage), asm.And.Imm(asm.R3, -hugePage),
	)
	b.mark("placed")
	b.add(asm.StoreMem(asm.R7, offAddr, asm.R3, asm.DWord))
}

// meet begins a sample of the process that is known, with R0 at the registers of its call.
func (b *builder) meet() {
	b.add(asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, atStart, asm.R0, asm.DWord))
	b.identify()
	b.find()
	b.header()
	b.registers()
}

// at stores where the mapping is, a field of the event.
func (b *builder) at(result int16) {
	b.add(asm.LoadMem(asm.R1, asm.R6, result, asm.DWord), asm.StoreMem(asm.R7, offAddr, asm.R1, asm.DWord))
}

// sized stores the size, which an instruction leaves in R2, in whole pages. What is small for this process is left out.
func (b *builder) sized(size asm.Instruction) {
	b.add(size,
		asm.Add.Imm(asm.R2, 4095), asm.And.Imm(asm.R2, -4096),
		asm.LoadMem(asm.R1, asm.R8, targetMappings, asm.DWord), asm.JLT.Reg(asm.R2, asm.R1, "exit"),
		asm.StoreMem(asm.R7, offPeriod, asm.R2, asm.DWord),
	)
}

// tell adds the stack and the flags, which an instruction leaves in R2, and sends the sample.
func (b *builder) tell(flags asm.Instruction) {
	b.goroutine()
	b.begin()
	b.walk()
	b.copyStack()
	b.add(flags, asm.LoadMem(asm.R1, asm.R7, offFlags, asm.Word), asm.Or.Reg(asm.R1, asm.R2), asm.StoreMem(asm.R7, offFlags, asm.R1, asm.Word))
	b.send()
	b.mark("exit")
	b.add(asm.Mov.Imm(asm.R0, 0), asm.Return())
}

// followMappings has the programs run from now on.
func (p *Profiler) followMappings() {
	if p.unseen != nil {
		return
	}
	for _, f := range p.followers {
		if f.link < 0 {
			p.unseen = errors.Join(p.unseen, f.follow())
		}
	}
}

func (f *follower) follow() error {
	const bpfRawTracepointOpen = 17 // which is how programs at functions are attached, too
	attr := struct {
		name       uint64
		program, _ uint32
	}{program: uint32(f.program.FD())}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, bpfRawTracepointOpen, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	if errno != 0 {
		return fmt.Errorf("run the program at mappings: %w", os.NewSyscallError("bpf", errno))
	}
	f.link = int(fd)
	return nil
}

func (p *Profiler) leaveMappings() {
	for _, f := range p.followers {
		if f.link >= 0 {
			_ = unix.Close(f.link) // a link: nothing is kept in it
			f.link = -1
		}
	}
}

// SeesFixed says whether mappings at an address that the program chose are told, too.
func (p *Profiler) SeesFixed() bool { return len(p.followers) > 1 }

// MappingsUnseen is why mappings are not told; nil: they are.
func (p *Profiler) MappingsUnseen() error { return p.unseen }
