// Package faultprofile samples the page faults of programs, with the stack that each was
// met on: who made resident memory grow, by line of Go and through calls of C. A small BPF
// program runs at one of Period faults and copies registers, return addresses and a piece
// of the stack into a ring; all else is done here, outside the program. Of a program whose
// memory does not grow it costs nothing, as nothing faults.
//
// A fault is a page that becomes resident, 4 KiB or, of a huge page, 2 MiB. The profile
// names who touched a page first, not who holds it now.
//
// What it is not: it knows no files of symbols and no recordings. Program counters are the
// process's own.
package faultprofile

import (
	"errors"
	"fmt"
)

const (
	// Period is how many faults there are to a sample unless it is said otherwise. A prime:
	// a program that touches pages in rounds of sixteen or of sixty-four must not be met at
	// the same line in each.
	Period = 61
	// maxFrames is how many callers are kept.
	maxFrames = 48
	// maxStack is how much is copied of a stack of C, in bytes, and goStack of a
	// goroutine's.
	maxStack = 4 << 10
	goStack  = 256
	// maxTargets bounds the processes that are known at a time.
	maxTargets = 1 << 10
	// ringSize holds the samples of a tenth of a second at some GB/s.
	ringSize = 1 << 20
	// LeastMapping is from how many bytes on mappings are told. A program that maps memory by itself seldom maps
	// less at a time, and who maps very often is told of in larger ones alone (Target.Mappings).
	LeastMapping = 64 << 10
	// maxThreads bounds how many threads of a process are taken in one by one; those that
	// they start follow by themselves.
	maxThreads = 1 << 11
	// maxEvents bounds the events of all processes: each is an open file.
	maxEvents = 1 << 12
)

// ErrThreads is why not all threads of a process are seen.
var ErrThreads = errors.New("the process has more threads than are taken in one by one")

// Target says where the Go runtime of a process keeps what a stack is found by. Addresses
// are those of the process, offsets those of its version of Go.
type Target struct {
	Text, Etext uint64 // Go's code, [Text, Etext)
	G           int64  // of the thread's g, from the beginning of its TLS
	M           uint64 // runtime.g.m
	Curg        uint64 // runtime.m.curg
	G0          uint64 // runtime.m.g0
	SchedBP     uint64 // runtime.g.sched.bp
	SchedSP     uint64 // runtime.g.sched.sp
	Mappings    uint64 // from how many bytes on a mapping that it makes is told, 0: from LeastMapping on
}

// Sample is a fault that was met, or a mapping that was made: of its bytes [Address, Address+Mapped)
// no fault came before. Both come in the order in which they happened on a processor.
type Sample struct {
	Address uint64 // that was touched, or where the mapping begins
	Faults  uint64 // that the sample stands for, 0: it is a mapping
	Mapped  uint64 // the size of the mapping, 0: it is a fault
	// Old and OldSize are where the mapping lay before mremap(2), and how large it was; 0: it is a new one.
	Old, OldSize uint64
	Place
}

// Place is where a thread was.
type Place struct {
	PID, TID int
	Registers
	InGo bool // the instruction is one of Go's code
	NoG  bool // no goroutine's: a thread that C made
	BadG bool // where the thread's g must be is none
	// PCs are return addresses of Go's frames, innermost first: those around the
	// instruction where that is Go's, else those below the call of C. Stack is what lay at
	// SP. Both are valid until the next sample.
	PCs   []uint64
	Stack []byte
}

// Registers are those that C's frames are found by.
type Registers struct{ IP, SP, BP, BX, R12, R13, R14, R15 uint64 }

// isBefore says whether the release of a kernel, such as "5.10.0-46-cloud-amd64", is older than major.minor; false
// where it does not begin with two numbers.
func isBefore(release string, major, minor int) bool {
	var a, b int
	if n, _ := fmt.Sscanf(release, "%d.%d", &a, &b); n < 2 {
		return false
	}
	return a < major || a == major && b < minor
}

// Cost is what the profile has taken from the programs so far.
type Cost struct {
	Samples, Lost uint64
	Faults        uint64 // that these stand for
	Nanos         uint64 // within the BPF program
}
