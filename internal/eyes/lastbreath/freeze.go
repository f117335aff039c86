package lastbreath

import (
	"time"
)

// Freeze is a process all of whose threads stand still.
type Freeze struct {
	Threads []Thread
	// Stopped is when the first thread stood, Whole when the last did.
	Stopped, Whole time.Time
}

// Thread is what a thread's registers held: the program counter, the stack pointer,
// and all general ones.
type Thread struct {
	TID    int
	PC, SP uint64
	Words  []uint64
}
