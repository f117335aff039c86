package faultprofile

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// The form of one sample in the ring: the header, maxFrames program counters, then the
// bytes that lie at the stack pointer.
const (
	offTGID     = 0
	offTID      = 4
	offAddr     = 8
	offPeriod   = 16
	offIP       = 24
	offSP       = 32
	offBP       = 40
	offBX       = 48
	offR12      = 56
	offR13      = 64
	offR14      = 72
	offR15      = 80
	offFlags    = 88
	offFrames   = 92
	offStackLen = 96
	offOld      = 104 // of memory that was moved: where it lay
	offOldSize  = 112 // and how large it was
	offPCs      = 120
	offStack    = offPCs + 8*maxFrames
	sampleSize  = offStack + maxStack
)

// Flags of a sample.
const (
	flagInGo   = 1 << iota // the instruction lies in the program's Go code
	flagNoG                // the thread has no goroutine: C made it, or the runtime has not begun
	flagBadG               // what lies where the thread's g must be is no g of that thread
	flagMapped             // no fault: a mapping was made
	flagMoved              // that was one before, elsewhere or smaller
)

// Offsets within a target as the program reads it, in the order of Target's fields.
const (
	targetText = 8 * iota
	targetEtext
	targetG
	targetM
	targetCurg
	targetG0
	targetSchedBP
	targetSchedSP
	targetMappings
	targetSize
)

// Counters that the program keeps, one set a processor.
const (
	countSamples = 8 * iota // samples of known processes
	countLost               // for which the ring had no room
	countNanos              // time within the program
	countSize
)

// Where locals lie below the frame pointer.
const (
	atStart  = -8
	atIDs    = -16 // struct bpf_pidns_info: thread, process
	atRet    = -24
	atNext   = -32 // with atRet: a frame as the stack holds it
	atG      = -40
	atM      = -48
	atG0     = -56
	atCurg   = -64
	atKey    = -72
	atTop    = -80
	atCounts = -88
)

// ptRegs are places in struct pt_regs of x86-64, which the kernel never moves
// (arch/x86/include/uapi/asm/ptrace.h).
var ptRegs = []struct{ from, to int16 }{
	{128, offIP}, {152, offSP}, {32, offBP}, {40, offBX}, {24, offR12}, {16, offR13}, {8, offR14}, {0, offR15},
}

// Places in struct bpf_perf_event_data (arch/x86: 21 registers, then these).
const (
	ctxPeriod = 168
	ctxAddr   = 176
)

// layout is what differs between kernels and machines.
type layout struct {
	fsbase                             int16 // of task_struct: where the thread's TLS begins
	pidDevice, pidInode                uint64
	scratch, targets, ring, statistics int // descriptors of maps
}

// builder writes one program. Registers: R6 the event, R7 the sample being written,
// R8 the target, R9 the task, later the length of the stack's copy.
type builder struct {
	layout
	code  asm.Instructions
	label string // of the next instruction
}

// instructions are the program that runs at every sample. Nothing in it loops: the walk of
// frames is written out maxFrames times, so that it ends whatever the stack holds; every read
// of the program's memory is one that may fail (bpf_probe_read_user).
func instructions(l layout) asm.Instructions {
	b := &builder{layout: l}
	b.add(asm.Mov.Reg(asm.R6, asm.R1), asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, atStart, asm.R0, asm.DWord))
	b.identify()
	b.find()
	b.add(
		asm.LoadMem(asm.R1, asm.R6, ctxAddr, asm.DWord), asm.StoreMem(asm.R7, offAddr, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R6, ctxPeriod, asm.DWord), asm.StoreMem(asm.R7, offPeriod, asm.R1, asm.DWord),
	)
	b.count(countSamples, asm.Mov.Imm(asm.R1, 1))
	b.header()
	b.registers()
	b.goroutine()
	b.begin()
	b.walk()
	b.copyStack()
	b.send()
	b.mark("exit")
	b.add(asm.Mov.Imm(asm.R0, 0), asm.Return())
	return b.code
}

func (b *builder) add(list ...asm.Instruction) {
	for _, ins := range list {
		if b.label != "" {
			ins = ins.WithSymbol(b.label)
			b.label = ""
		}
		b.code = append(b.code, ins)
	}
}

// mark names the next instruction.
func (b *builder) mark(label string) { b.label = label }

// identify stores the process and the thread, by the numbers of our PID namespace.
func (b *builder) identify() {
	if b.pidInode == 0 { // the first namespace: every process has its number there
		b.add(
			asm.FnGetCurrentPidTgid.Call(),
			asm.StoreMem(asm.RFP, atIDs, asm.R0, asm.Word),
			asm.RSh.Imm(asm.R0, 32),
			asm.StoreMem(asm.RFP, atIDs+4, asm.R0, asm.Word),
		)
		return
	}
	b.add(
		asm.LoadImm(asm.R1, int64(b.pidDevice), asm.DWord),
		asm.LoadImm(asm.R2, int64(b.pidInode), asm.DWord),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, atIDs),
		asm.Mov.Imm(asm.R4, 8),
		asm.FnGetNsCurrentPidTgid.Call(),
		asm.JNE.Imm(asm.R0, 0, "exit"),
	)
}

// lookup finds what a map has for a key, a local, or leaves off.
func (b *builder) lookup(fd int, key int32, to asm.Register) {
	b.add(
		asm.LoadMapPtr(asm.R1, fd),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, key),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "exit"),
		asm.Mov.Reg(to, asm.R0),
	)
}

// find takes the room to write to and what is known of the process; it leaves off where
// nothing is.
func (b *builder) find() {
	b.lookup(b.targets, atIDs+4, asm.R8)
	b.add(asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, atKey, asm.R1, asm.DWord))
	b.lookup(b.statistics, atKey, asm.R7)
	b.add(asm.StoreMem(asm.RFP, atCounts, asm.R7, asm.DWord))
	b.lookup(b.scratch, atKey, asm.R7)
}

// header begins a sample: whose it is, and nothing else yet.
func (b *builder) header() {
	for _, half := range []int16{0, 4} {
		b.add(asm.LoadMem(asm.R1, asm.RFP, atIDs+half, asm.Word))
		to := int16(offTID)
		if half == 4 {
			to = offTGID
		}
		b.add(asm.StoreMem(asm.R7, to, asm.R1, asm.Word))
	}
	b.add(
		asm.StoreImm(asm.R7, offFlags, 0, asm.Word), asm.StoreImm(asm.R7, offFrames, 0, asm.Word),
		asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.R7, offStackLen, asm.R1, asm.DWord),
	)
}

// count adds what an instruction leaves in R1 to a counter.
func (b *builder) count(at int16, value asm.Instruction) {
	b.add(value,
		asm.LoadMem(asm.R2, asm.RFP, atCounts, asm.DWord),
		asm.LoadMem(asm.R3, asm.R2, at, asm.DWord), asm.Add.Reg(asm.R3, asm.R1),
		asm.StoreMem(asm.R2, at, asm.R3, asm.DWord),
	)
}

// registers stores those that the thread had in user space: where the kernel itself
// touched the page, as in read(2), they are those of the call.
func (b *builder) registers() {
	b.add(
		asm.FnGetCurrentTaskBtf.Call(), asm.Mov.Reg(asm.R9, asm.R0),
		asm.Mov.Reg(asm.R1, asm.R9), asm.FnTaskPtRegs.Call(),
	)
	b.copyRegisters(asm.R0)
}

func (b *builder) copyRegisters(from asm.Register) {
	for _, r := range ptRegs {
		b.add(asm.LoadMem(asm.R1, from, r.from, asm.DWord), asm.StoreMem(asm.R7, r.to, asm.R1, asm.DWord))
	}
}

// read reads words of the program's memory, at R3, into a local. Where that fails, it goes
// on at a label.
func (b *builder) read(to int32, size int32, failed string) {
	b.add(
		asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, to), asm.Mov.Imm(asm.R2, size),
		asm.FnProbeReadUser.Call(),
		asm.JNE.Imm(asm.R0, 0, failed),
	)
}

// field reads the pointer that lies in a struct of the runtime, whose address is a local,
// at an offset of the target.
func (b *builder) field(of, offset int16, to int32, failed string) {
	b.add(
		asm.LoadMem(asm.R3, asm.RFP, of, asm.DWord),
		asm.LoadMem(asm.R1, asm.R8, offset, asm.DWord), asm.Add.Reg(asm.R3, asm.R1),
	)
	b.read(to, 8, failed)
}

// goroutine follows the thread's g to its m, and that to its g0 and its goroutine. All
// are 0 where there is none.
func (b *builder) goroutine() {
	for _, at := range []int16{atG, atM, atG0, atCurg, atTop} {
		b.add(asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, at, asm.R1, asm.DWord))
	}
	b.add(
		asm.LoadMem(asm.R3, asm.R9, b.fsbase, asm.DWord),
		asm.LoadMem(asm.R1, asm.R8, targetG, asm.DWord), asm.Add.Reg(asm.R3, asm.R1),
	)
	b.read(atG, 8, "no g")
	b.add(asm.LoadMem(asm.R1, asm.RFP, atG, asm.DWord), asm.JEq.Imm(asm.R1, 0, "no g"))
	b.field(atG, targetM, atM, "bad g")
	b.field(atM, targetG0, atG0, "bad g")
	b.field(atM, targetCurg, atCurg, "bad g")
	b.add(
		asm.LoadMem(asm.R1, asm.RFP, atG, asm.DWord),
		asm.LoadMem(asm.R2, asm.RFP, atG0, asm.DWord), asm.JEq.Reg(asm.R1, asm.R2, "has g"),
		asm.LoadMem(asm.R2, asm.RFP, atCurg, asm.DWord), asm.JEq.Reg(asm.R1, asm.R2, "has g"),
	)
	b.mark("bad g")
	b.add(asm.StoreImm(asm.R7, offFlags, flagBadG, asm.Word), asm.Ja.Label("forget g"))
	b.mark("no g")
	b.add(asm.StoreImm(asm.R7, offFlags, flagNoG, asm.Word))
	b.mark("forget g")
	b.add(asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, atCurg, asm.R1, asm.DWord), asm.Ja.Label("begin"))
	b.mark("has g")
	b.field(atG0, targetSchedSP, atTop, "begin")
}

// begin decides where the walk of frames begins, in R9: in Go code at the frame pointer; in C at
// what the goroutine's was when it called (runtime.asmcgocall).
func (b *builder) begin() {
	b.mark("begin")
	b.add(
		asm.LoadMem(asm.R1, asm.R7, offIP, asm.DWord),
		asm.LoadMem(asm.R2, asm.R8, targetText, asm.DWord), asm.JLT.Reg(asm.R1, asm.R2, "in C"),
		asm.LoadMem(asm.R2, asm.R8, targetEtext, asm.DWord), asm.JGE.Reg(asm.R1, asm.R2, "in C"),
		asm.LoadMem(asm.R1, asm.R7, offFlags, asm.Word), asm.Or.Imm(asm.R1, flagInGo), asm.StoreMem(asm.R7, offFlags, asm.R1, asm.Word),
		asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, atTop, asm.R1, asm.DWord),
		asm.LoadMem(asm.R9, asm.R7, offBP, asm.DWord),
		asm.Ja.Label("walk"),
	)
	b.mark("in C")
	b.add(asm.LoadMem(asm.R1, asm.RFP, atCurg, asm.DWord), asm.JEq.Imm(asm.R1, 0, "walked"))
	b.field(atCurg, targetSchedBP, atNext, "walked")
	b.add(asm.LoadMem(asm.R9, asm.RFP, atNext, asm.DWord))
}

// walk follows frame pointers from R9 on. A chain that leads in circles ends after
// maxFrames, too.
func (b *builder) walk() {
	b.mark("walk")
	for i := range int16(maxFrames) {
		b.add(asm.JEq.Imm(asm.R9, 0, "walked"), asm.Mov.Reg(asm.R3, asm.R9))
		b.read(atNext, 16, "walked")
		b.add(
			asm.LoadMem(asm.R1, asm.RFP, atRet, asm.DWord), asm.JEq.Imm(asm.R1, 0, "walked"),
			asm.StoreMem(asm.R7, offPCs+8*i, asm.R1, asm.DWord),
			asm.StoreImm(asm.R7, offFrames, int64(i)+1, asm.Word),
			asm.LoadMem(asm.R9, asm.RFP, atNext, asm.DWord),
		)
	}
}

// copyStack copies what lies at the stack pointer: of C all up to where the thread's Go
// code called it, as far as that is known and within maxStack; of Go the innermost frame.
func (b *builder) copyStack() {
	b.mark("walked")
	b.add(
		asm.LoadMem(asm.R3, asm.R7, offSP, asm.DWord),
		asm.Mov.Imm(asm.R9, goStack),
		asm.LoadMem(asm.R1, asm.R7, offFlags, asm.Word), asm.And.Imm(asm.R1, flagInGo), asm.JNE.Imm(asm.R1, 0, "copy"),
		asm.LoadMem(asm.R9, asm.RFP, atTop, asm.DWord), asm.Sub.Reg(asm.R9, asm.R3),
		asm.JLE.Imm(asm.R9, maxStack, "copy"),
		asm.Mov.Imm(asm.R9, maxStack),
	)
	b.mark("copy")
	for _, less := range []int32{1 << 10, 128, 0} {
		b.add(
			asm.LoadMem(asm.R3, asm.R7, offSP, asm.DWord),
			asm.Mov.Reg(asm.R1, asm.R7), asm.Add.Imm(asm.R1, offStack), asm.Mov.Reg(asm.R2, asm.R9),
			asm.FnProbeReadUser.Call(), asm.JEq.Imm(asm.R0, 0, "copied"),
		)
		b.add(asm.Mov.Imm(asm.R9, less)) // the stack may end before
	}
	b.mark("copied")
	b.add(asm.StoreMem(asm.R7, offStackLen, asm.R9, asm.Word))
}

// send puts the sample into the ring. Nobody is woken: the reader looks by itself.
func (b *builder) send() {
	const noWakeup = 1
	b.add(
		asm.LoadMapPtr(asm.R1, b.ring), asm.Mov.Reg(asm.R2, asm.R7),
		asm.Mov.Reg(asm.R3, asm.R9), asm.Add.Imm(asm.R3, offStack),
		asm.Mov.Imm(asm.R4, noWakeup), asm.FnRingbufOutput.Call(),
		asm.JEq.Imm(asm.R0, 0, "sent"),
	)
	b.count(countLost, asm.Mov.Imm(asm.R1, 1))
	b.mark("sent")
	b.add(asm.FnKtimeGetNs.Call(), asm.LoadMem(asm.R1, asm.RFP, atStart, asm.DWord), asm.Sub.Reg(asm.R0, asm.R1))
	b.count(countNanos, asm.Mov.Reg(asm.R1, asm.R0))
}

// compile-time check of the form that both sides share.
var _ = [1]struct{}{}[targetSize-8*9]

func (l layout) String() string { return fmt.Sprintf("fsbase at %d", l.fsbase) }
