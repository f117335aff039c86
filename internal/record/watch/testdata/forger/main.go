// Forger is a program that lies about its stacks while its memory grows: frame pointers in
// circles and into nowhere, and a thread's TLS whose every word leads back to itself.
package main

/*
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <signal.h>
#include <unistd.h>

#define PAGE 4096

static uintptr_t *cPointer(uintptr_t p) { return (uintptr_t *)p; }

static char *fresh(size_t n) {
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) abort();
	madvise(p, n, MADV_NOHUGEPAGE);
	return p;
}

__attribute__((noinline, optimize("no-stack-protector"))) static void touch(volatile char *p, size_t n) {
	for (size_t i = 0; i < n; i += PAGE) p[i] = 1;
}

// lie lets a frame of Go's lead to an address while pages are touched: to itself, where
// that is 1.
__attribute__((noinline)) static void lie(uintptr_t *frame, uintptr_t to, size_t n) {
	char *p = fresh(n);
	uintptr_t honest = *frame;
	*frame = to == 1 ? (uintptr_t)frame : to == 2 ? honest : to;
	touch(p, n);
	*frame = honest;
}

static long raw(long nr, long a, long b, long c, long d) {
	long out;
	register long r10 __asm__("r10") = d;
	__asm__ volatile("syscall" : "=a"(out) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return out;
}

// forgeTLS gives the thread another TLS while pages are touched. No signal may come meanwhile:
// Go would take the lie for its own.
__attribute__((noinline, optimize("no-stack-protector"))) static void forgeTLS(size_t n) {
	enum { getFS = 0x1003, setFS = 0x1002, room = 1 << 16 };
	char *p = fresh(n);
	uintptr_t *fake = (uintptr_t *)fresh(room);
	for (size_t i = 0; i < room / sizeof *fake; i++) fake[i] = (uintptr_t)fake + room / 2;
	uint64_t all = ~0ULL, before;
	uintptr_t fs;
	raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, 8);
	raw(SYS_arch_prctl, getFS, (long)&fs, 0, 0);
	raw(SYS_arch_prctl, setFS, (long)fake + room / 2, 0, 0);
	touch(p, n);
	raw(SYS_arch_prctl, setFS, (long)fs, 0, 0);
	raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, 8);
}
*/
import "C"

import (
	"runtime/debug"
	"time"

	"github.com/highwater-go/highwater/internal/record/watch/testdata/forger/bp"
)

// lies forges its own frame. Its stack has grown before, so that it does not move.
//
//go:noinline
func lies(to uint64, size int) {
	frame := bp.Frame()
	C.lie(C.cPointer(C.uintptr_t(frame)), C.uintptr_t(to), C.size_t(size))
}

func main() {
	debug.SetGCPercent(-1) // nor does it shrink
	const size = 4 << 20
	lies(2, 4096)
	for range 4 {
		for _, to := range []uint64{1, 0xdead0000, 1 << 63, 0xffff888000000000, 7} {
			lies(to, size)
			time.Sleep(20 * time.Millisecond)
		}
		C.forgeTLS(size)
		time.Sleep(20 * time.Millisecond)
	}
}
