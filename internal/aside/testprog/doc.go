// Package testprog is a folder of programs of known memory, each of which says
// what is true of it (-truth). They are what a watcher of memory is tested on,
// and know nothing of it.
//
// It is a module of its own, of the standard library alone, so that any
// toolchain from Go 1.24 on builds it:
//
//	cd internal/aside/testprog && GOTOOLCHAIN=go1.24.13 go build -o DIR ./leak
//
// Every program ends by itself, within a bounded time and with bounded memory,
// if nothing kills it. Sizes are flags; what they make by default under a limit
// of 256 MiB:
//
//	leak        live heap grows with work                 killed, leak
//	burst       ten requests hold 32 MiB each             killed, burst
//	garbage     150 MiB live, a goal of 300 MiB           killed, gc-unaware
//	cgoleak     C's malloc grows, the Go heap is small    killed, native
//	cgofrag     C's malloc keeps what C has freed         ends, fragmentation
//	lockedthreads  2,000 goroutines with a thread each    ends, goroutine-leak
//	mmapper     mapped by system call, half of it touched killed, native
//	goroutines  waiting goroutines pile up                killed, goroutine-leak
//	recursion   the stack of one goroutine grows          killed, burst
//	filewriter  writes 1 GiB to a file                    ends, page-cache: harmless
//	steady      64 MiB live, a little garbage             ends, healthy
//	processes   three children of different sizes         ends, healthy
//	nettiny     a server that remembers what it is asked  as it is asked
//	ticker      says that it lives, ten times a second    ends, healthy
//	crash       dies by its own fault                     its own code
//	quick       ends at once with a code                  its own code
//	causes      eleven faults, ten of them beside something innocent
//	neverready  says nothing, listens nowhere             ends, healthy
package testprog
