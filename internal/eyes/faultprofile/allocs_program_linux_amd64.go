package faultprofile

import (
	"github.com/cilium/ebpf/asm"
)

// Counters and state of the probes, one set a processor. The first is how many bytes are left
// until the next sample.
const (
	allocLeft = 8 * iota
	allocCalls
	allocFrees
	allocSamples
	allocLost
	allocLostEvents
	allocNanos
	allocSize
)

// Locals of the probes, below those of the faults' program.
const (
	atSize    = -96
	atID      = -104
	atProcess = -112 // with atBlock: the key of a block
	atBlock   = -120
	atEvent   = -144 // kind and process, ID, block
	eventSize = 24
)

// Arguments and result of a function in struct pt_regs (System V ABI).
const (
	regDI = 112
	regSI = 104
	regDX = 96
	regAX = 80
)

// storesBlock marks the ID of a sample whose function stores the block instead of giving it back, and the
// key under which it is kept where.
const storesBlock = 1 << 62

// mostSize is more than any program can have: such a call fails.
const mostSize = 1 << 46

// allocLayout is what the programs of the probes need besides: descriptors of maps, and of kernel
// functions.
type allocLayout struct {
	layout
	allocNeeds
}

type allocNeeds struct {
	live, numbers, distances int
	isReturn, cookie         int64
}

// allocBuilder writes them.
type allocBuilder struct {
	builder
	allocNeeds
}

// allocInstructions are the program at the functions that give blocks. It runs at the call, and at the
// return of those that it sampled.
func allocInstructions(l allocLayout) asm.Instructions {
	b := &allocBuilder{builder: builder{layout: l.layout}, allocNeeds: l.allocNeeds}
	b.add(asm.Mov.Reg(asm.R6, asm.R1))
	b.kernel(l.isReturn)
	b.add(asm.JNE.Imm(asm.R0, 0, "return"))
	b.size()
	b.countDown()
	b.reserve()
	b.copyRegisters(asm.R6)
	b.add(asm.FnGetCurrentTaskBtf.Call(), asm.Mov.Reg(asm.R9, asm.R0))
	b.goroutine()
	b.begin()
	b.walk()
	b.copyStack()
	b.submit()
	b.mark("return")
	b.given()
	b.mark("exit")
	// 1 at a call: its return is of no interest.
	b.add(asm.Mov.Imm(asm.R0, 1), asm.Return())
	return b.code
}

// freeInstructions are the program at the functions that take blocks back.
func freeInstructions(l allocLayout) asm.Instructions {
	b := &allocBuilder{builder: builder{layout: l.layout}, allocNeeds: l.allocNeeds}
	b.add(asm.Mov.Reg(asm.R6, asm.R1), asm.LoadMem(asm.R9, asm.R6, regDI, asm.DWord), asm.JEq.Imm(asm.R9, 0, "exit"))
	b.state()
	b.add(asm.LoadMem(asm.R1, asm.R7, allocFrees, asm.DWord), asm.Add.Imm(asm.R1, 1), asm.StoreMem(asm.R7, allocFrees, asm.R1, asm.DWord))
	b.freed("exit")
	b.mark("exit")
	b.add(asm.Mov.Imm(asm.R0, 0), asm.Return())
	return b.code
}

// kernel calls a function of the kernel's with the context as its argument.
func (b *allocBuilder) kernel(id int64) {
	b.add(asm.Mov.Reg(asm.R1, asm.R6), asm.Instruction{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Call), Src: asm.PseudoKfuncCall, Constant: id})
}

// state takes this processor's counters into R7.
func (b *allocBuilder) state() {
	b.add(asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, atKey, asm.R1, asm.DWord))
	b.lookup(b.statistics, atKey, asm.R7)
	b.add(asm.StoreMem(asm.RFP, atCounts, asm.R7, asm.DWord))
}

// size finds what was asked for: into R9 and a local. The probe's cookie is its Kind.
func (b *allocBuilder) size() {
	argument := func(to asm.Register, at int16) asm.Instruction { return asm.LoadMem(to, asm.R6, at, asm.DWord) }
	b.add(
		asm.Mov.Reg(asm.R1, asm.R6), asm.FnGetAttachCookie.Call(),
		asm.StoreMem(asm.RFP, atID, asm.R0, asm.DWord),
		argument(asm.R9, regDI), asm.JEq.Imm(asm.R0, int32(Malloc), "size"),
		argument(asm.R9, regDX), asm.JEq.Imm(asm.R0, int32(Memalign), "size"),
		argument(asm.R9, regSI), asm.JEq.Imm(asm.R0, int32(Aligned), "size"),
		asm.JEq.Imm(asm.R0, int32(Realloc), "realloc"),
		asm.JEq.Imm(asm.R0, int32(Realloc|reallocJumps), "realloc or malloc"),
		argument(asm.R1, regDI), asm.LoadImm(asm.R2, mostSize, asm.DWord),
		asm.JGE.Reg(asm.R1, asm.R2, "exit"), asm.JGE.Reg(asm.R9, asm.R2, "exit"),
		asm.Mul.Reg(asm.R9, asm.R1), asm.Ja.Label("size"),
	)
	b.mark("realloc or malloc")
	b.add(argument(asm.R1, regDI), asm.JEq.Imm(asm.R1, 0, "exit"))
	b.mark("realloc")
	b.add(asm.StoreMem(asm.RFP, atSize, asm.R9, asm.DWord), argument(asm.R9, regDI), asm.JEq.Imm(asm.R9, 0, "reallocated"))
	b.freed("reallocated")
	b.mark("reallocated")
	b.add(asm.LoadMem(asm.R9, asm.RFP, atSize, asm.DWord))
	b.mark("size")
	b.add(
		asm.LoadImm(asm.R2, mostSize, asm.DWord), asm.JGE.Reg(asm.R9, asm.R2, "exit"),
		asm.StoreMem(asm.RFP, atSize, asm.R9, asm.DWord),
	)
}

// countDown takes the size off what is left until the next sample, and leaves off if that is
// something; else it draws the next distance.
func (b *allocBuilder) countDown() {
	b.state()
	b.add(
		asm.LoadMem(asm.R1, asm.R7, allocCalls, asm.DWord), asm.Add.Imm(asm.R1, 1), asm.StoreMem(asm.R7, allocCalls, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R7, allocLeft, asm.DWord), asm.Sub.Reg(asm.R1, asm.R9),
		asm.StoreMem(asm.R7, allocLeft, asm.R1, asm.DWord),
		asm.JSGT.Imm(asm.R1, 0, "exit"),
		asm.FnGetPrandomU32.Call(), asm.And.Imm(asm.R0, gaps-1), asm.LSh.Imm(asm.R0, 3),
		asm.LoadMapValue(asm.R1, b.distances, 0), asm.Add.Reg(asm.R1, asm.R0),
		asm.LoadMem(asm.R1, asm.R1, 0, asm.DWord), asm.StoreMem(asm.R7, allocLeft, asm.R1, asm.DWord),
		asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, atStart, asm.R0, asm.DWord),
	)
}

// reserve takes room for a sample in the ring, gives it a number and leaves that in the session's
// cookie, for the return.
func (b *allocBuilder) reserve() {
	b.identify()
	b.lookup(b.targets, atIDs+4, asm.R8)
	b.count(allocSamples, asm.Mov.Imm(asm.R1, 1))
	b.add(
		asm.LoadMapPtr(asm.R1, b.ring), asm.Mov.Imm(asm.R2, sampleSize), asm.Mov.Imm(asm.R3, 0), asm.FnRingbufReserve.Call(),
		asm.JNE.Imm(asm.R0, 0, "reserved"),
	)
	b.count(allocLost, asm.Mov.Imm(asm.R1, 1))
	b.add(asm.Ja.Label("exit"))
	b.mark("reserved")
	number := asm.FetchAdd.Mem(asm.R2, asm.R9, asm.DWord, 0)
	number.Constant = 1 // BPF_FETCH, which the library (v0.22) leaves out when it writes the instruction
	b.add(
		asm.Mov.Reg(asm.R7, asm.R0),
		asm.LoadMem(asm.R1, asm.RFP, atSize, asm.DWord), asm.StoreMem(asm.R7, offPeriod, asm.R1, asm.DWord),
		asm.LoadMapValue(asm.R2, b.numbers, 0), asm.Mov.Imm(asm.R9, 1), number,
		asm.Add.Imm(asm.R9, 1),
		asm.StoreMem(asm.R7, offAddr, asm.R9, asm.DWord),
	)
	b.header()
	b.remember()
}

// remember leaves the number in the session's cookie. Where the function will store the block,
// the map of blocks keeps the place meanwhile.
func (b *allocBuilder) remember() {
	b.add(
		asm.LoadMem(asm.R1, asm.RFP, atID, asm.DWord), asm.JNE.Imm(asm.R1, int32(Memalign), "numbered"),
		asm.LoadImm(asm.R1, storesBlock, asm.DWord), asm.Or.Reg(asm.R9, asm.R1),
		asm.StoreMem(asm.RFP, atBlock, asm.R9, asm.DWord),
		asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, atProcess, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R6, regDI, asm.DWord), asm.StoreMem(asm.RFP, atID, asm.R1, asm.DWord),
	)
	b.update()
	b.mark("numbered")
	b.kernel(b.cookie)
	b.add(asm.StoreMem(asm.R0, 0, asm.R9, asm.DWord))
}

// update puts what atID holds at the key of a block.
func (b *allocBuilder) update() {
	b.add(
		asm.LoadMapPtr(asm.R1, b.live),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, atBlock),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, atID),
		asm.Mov.Imm(asm.R4, 0), asm.FnMapUpdateElem.Call(),
	)
}

// take finds what the map has at the key of a block, into R9, and removes it.
func (b *allocBuilder) take(none string) {
	b.add(
		asm.LoadMapPtr(asm.R1, b.live), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, atBlock), asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, none),
		asm.LoadMem(asm.R9, asm.R0, 0, asm.DWord),
		asm.LoadMapPtr(asm.R1, b.live), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, atBlock), asm.FnMapDeleteElem.Call(),
	)
}

// key stores that of a block of this process, whose address is in R9.
func (b *allocBuilder) key() {
	b.add(asm.StoreMem(asm.RFP, atBlock, asm.R9, asm.DWord))
	b.identify()
	b.add(asm.LoadMem(asm.R1, asm.RFP, atIDs+4, asm.Word), asm.StoreMem(asm.RFP, atProcess, asm.R1, asm.DWord))
}

// submit hands the sample over. The ring's reader looks by itself.
func (b *allocBuilder) submit() {
	const noWakeup = 1
	b.add(asm.Mov.Reg(asm.R1, asm.R7), asm.Mov.Imm(asm.R2, noWakeup), asm.FnRingbufSubmit.Call(),
		asm.FnKtimeGetNs.Call(), asm.LoadMem(asm.R1, asm.RFP, atStart, asm.DWord), asm.Sub.Reg(asm.R0, asm.R1))
	b.count(allocNanos, asm.Mov.Reg(asm.R1, asm.R0))
	// 0: run again at the return.
	b.add(asm.Mov.Imm(asm.R0, 0), asm.Return())
}

// given is the return of a function: its block is live.
func (b *allocBuilder) given() {
	b.kernel(b.cookie)
	b.add(
		asm.LoadMem(asm.R9, asm.R0, 0, asm.DWord), asm.JEq.Imm(asm.R9, 0, "exit"),
		asm.StoreMem(asm.RFP, atID, asm.R9, asm.DWord),
		asm.LoadMem(asm.R8, asm.R6, regAX, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R9), asm.RSh.Imm(asm.R1, 62), asm.JEq.Imm(asm.R1, 0, "has block"),
	)
	b.stored()
	b.mark("has block")
	b.add(asm.StoreMem(asm.RFP, atEvent+16, asm.R8, asm.DWord), asm.JEq.Imm(asm.R8, 0, "tell given"), asm.Mov.Reg(asm.R9, asm.R8))
	b.key()
	b.update()
	b.add(asm.JEq.Imm(asm.R0, 0, "tell given"), asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, atEvent+16, asm.R1, asm.DWord))
	b.mark("tell given")
	b.add(asm.LoadMem(asm.R9, asm.RFP, atID, asm.DWord))
	b.state()
	b.tell(Given)
	b.add(asm.Ja.Label("exit"))
}

// stored finds in R8 the block that posix_memalign has stored, 0 where it failed.
func (b *allocBuilder) stored() {
	b.add(
		asm.StoreMem(asm.RFP, atBlock, asm.R9, asm.DWord),
		asm.LSh.Imm(asm.R9, 2), asm.RSh.Imm(asm.R9, 2), asm.StoreMem(asm.RFP, atID, asm.R9, asm.DWord),
		asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, atProcess, asm.R1, asm.DWord),
	)
	b.take("exit")
	b.add(asm.JNE.Imm(asm.R8, 0, "failed"), asm.Mov.Reg(asm.R3, asm.R9))
	b.read(atNext, 8, "failed")
	b.add(asm.LoadMem(asm.R8, asm.RFP, atNext, asm.DWord), asm.Ja.Label("has block"))
	b.mark("failed")
	b.add(asm.Mov.Imm(asm.R8, 0))
}

// freed tells that the block in R9 is taken back, where it was sampled.
func (b *allocBuilder) freed(then string) {
	b.key()
	b.take(then)
	b.state()
	b.tell(Freed)
}

// tell puts an event of the sample in R9 into the ring. The event's block is stored before.
func (b *allocBuilder) tell(k EventKind) {
	const noWakeup = 1
	if k == Freed {
		b.add(asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, atEvent+16, asm.R1, asm.DWord))
	}
	told := "told" + string(rune('0'+k))
	b.add(
		asm.Mov.Imm(asm.R1, int32(k)), asm.StoreMem(asm.RFP, atEvent, asm.R1, asm.DWord),
		asm.StoreMem(asm.RFP, atEvent+8, asm.R9, asm.DWord),
		asm.LoadMapPtr(asm.R1, b.ring), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, atEvent),
		asm.Mov.Imm(asm.R3, eventSize), asm.Mov.Imm(asm.R4, noWakeup), asm.FnRingbufOutput.Call(),
		asm.JEq.Imm(asm.R0, 0, told),
	)
	b.count(allocLostEvents, asm.Mov.Imm(asm.R1, 1))
	b.mark(told)
	b.add(asm.Mov.Imm(asm.R1, 0)) // something to jump to
}
