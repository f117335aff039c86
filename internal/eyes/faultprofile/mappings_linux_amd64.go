package faultprofile

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// mapsMemory is the tracepoint at which the kernel has found an address for a mapping of a process, from
// Linux 5.7 on: vm_unmapped_area(addr, info), include/trace/events/mmap.h. Of the tracepoints of system
// calls every call of every process would take a slower way; this one costs nobody else anything.
const mapsMemory = "vm_unmapped_area"

// hugePage is what the address of a mapping is rounded to that may get huge pages: the kernel looks for
// so much more room then (__thp_get_unmapped_area, mm/huge_memory.c).
const hugePage = 2 << 20

// What the thread asked for, in struct pt_regs: mmap(2) is call 9, its second argument the length.
const (
	regCall = 120
	sysMmap = 9
)

// Local of this program: the length that was asked for, in whole pages.
const atLength = -96

// loadMapping loads the program at mappings.
func loadMapping(kernel *btf.Spec, l layout) (*ebpf.Program, error) {
	var info *btf.Struct
	if err := kernel.TypeByName("vm_unmapped_area_info", &info); err != nil {
		return nil, err
	}
	length, _, err := member(info, "length")
	if err != nil {
		return nil, err
	}
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "mappings", Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp, AttachTo: mapsMemory,
		Instructions: mappingInstructions(l, int16(length)), License: "GPL"})
	if err != nil {
		return nil, fmt.Errorf("load the program at mappings: %w", err)
	}
	return p, nil
}

// mappingInstructions are the program that runs where memory is mapped, by whatever process: it leaves
// at once where that is small, and after one look where the process is not known.
func mappingInstructions(l layout, length int16) asm.Instructions {
	const errors = -4095 // and above: MAX_ERRNO, include/linux/err.h
	b := &builder{layout: l}
	b.add(
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord), asm.LoadMem(asm.R1, asm.R1, length, asm.DWord),
		asm.JLT.Imm(asm.R1, LeastMapping, "exit"),
		asm.LoadMem(asm.R2, asm.R6, 0, asm.DWord), asm.JGE.Imm(asm.R2, errors, "exit"),
		asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, atStart, asm.R0, asm.DWord),
	)
	b.identify()
	b.find()
	b.header()
	b.registers()
	b.asked()
	b.placed(length)
	b.goroutine()
	b.begin()
	b.walk()
	b.copyStack()
	b.add(asm.LoadMem(asm.R1, asm.R7, offFlags, asm.Word), asm.Or.Imm(asm.R1, flagMapped), asm.StoreMem(asm.R7, offFlags, asm.R1, asm.Word))
	b.send()
	b.mark("exit")
	b.add(asm.Mov.Imm(asm.R0, 0), asm.Return())
	return b.code
}

// asked leaves off unless the thread is in mmap(2), and takes how much it asks for. What is small for
// this process is left out.
func (b *builder) asked() {
	b.add(
		asm.Mov.Reg(asm.R1, asm.R9), asm.FnTaskPtRegs.Call(),
		asm.LoadMem(asm.R1, asm.R0, regCall, asm.DWord), asm.JNE.Imm(asm.R1, sysMmap, "exit"),
		asm.LoadMem(asm.R2, asm.R0, regSI, asm.DWord), asm.Add.Imm(asm.R2, 4095), asm.And.Imm(asm.R2, -4096),
		asm.LoadMem(asm.R1, asm.R8, targetMappings, asm.DWord), asm.JLT.Reg(asm.R2, asm.R1, "exit"),
		asm.StoreMem(asm.RFP, atLength, asm.R2, asm.DWord), asm.StoreMem(asm.R7, offPeriod, asm.R2, asm.DWord),
	)
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

// followMappings has the program run from now on.
func (p *Profiler) followMappings() {
	if p.link >= 0 || p.unseen != nil {
		return
	}
	const bpfRawTracepointOpen = 17 // which is how typed tracepoints are attached, too
	attr := struct {
		name       uint64
		program, _ uint32
	}{program: uint32(p.mapping.FD())}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, bpfRawTracepointOpen, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	if errno != 0 {
		p.unseen = fmt.Errorf("run the program at mappings: %w", os.NewSyscallError("bpf", errno))
		return
	}
	p.link = int(fd)
}

func (p *Profiler) leaveMappings() {
	if p.link >= 0 {
		_ = unix.Close(p.link) // a link: nothing is kept in it
		p.link = -1
	}
}

// MappingsUnseen is why mappings are not told; nil: they are.
func (p *Profiler) MappingsUnseen() error { return p.unseen }
