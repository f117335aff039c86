// Resident is a program whose resident memory grows at known lines: by C's allocator in several
// ways, by mappings of its own, and by the Go heap. It prints how much each line took. Its
// verdict is native memory. It needs a C compiler.
package main

/*
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern void calledBack(size_t);

static volatile int depth; // written after a call, so that it is not turned into a jump

static void *touched(void *p, size_t n) {
	if (p) memset(p, 1, n);
	return p;
}

static size_t sizeOf(void *p) { return malloc_usable_size(p) + 8; }

__attribute__((noinline)) static void *keep(size_t n) { return touched(malloc(n), n); }
__attribute__((noinline)) static void *innermost(size_t n) { return touched(calloc(1, n), n); }
__attribute__((noinline)) static void *inner(size_t n) { void *p = innermost(n); depth = 2; return p; }
__attribute__((noinline)) static void *deep(size_t n) { void *p = inner(n); depth = 1; return p; }

__attribute__((noinline)) static void *larger(void *p, size_t from, size_t to) {
	char *q = realloc(p, to);
	if (q) memset(q + from, 1, to - from);
	return q;
}

__attribute__((noinline)) static void *aligned(size_t n) {
	void *p = NULL;
	return posix_memalign(&p, 4096, n) ? NULL : touched(p, n);
}

__attribute__((noinline)) static void viaGo(size_t n) { calledBack(n); }

__attribute__((noinline)) static void *poolOpen(size_t n) {
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

__attribute__((noinline)) static void poolWrite(void *p, size_t n) { memset(p, 1, n); }

__attribute__((noinline)) static void *blockWithoutWrites(size_t n) { return malloc(n); }
*/
import "C"

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

//go:embed main.go
var source string

// names are the marked lines.
var names = []string{"small", "page", "deep", "realloc", "aligned", "callback", "string", "mmap", "heap", "large", "little", "huge"}

// taken is what each line took, in bytes.
var taken = map[string]int64{}

func took(name string, p unsafe.Pointer) { taken[name] += int64(C.sizeOf(p)) }

const page = 4 << 10

func small(n int) {
	for i := 0; i < n/112; i++ {
		took("small", C.touched(C.malloc(96), 96)) // truth: small
	}
}

func pages(n int) {
	for i := 0; i < n/page; i++ {
		took("page", C.keep(page-16)) // truth: page
	}
}

func deep(n int) {
	for i := 0; i < n/20000; i++ {
		took("deep", C.deep(20000)) // truth: deep
	}
}

var growing unsafe.Pointer
var grownTo int

func reallocate(n int) {
	for to := grownTo + n; grownTo < to; grownTo += 64 << 10 {
		growing = C.larger(growing, C.size_t(grownTo), C.size_t(grownTo+64<<10)) // truth: realloc
	}
	taken["realloc"] += int64(n)
}

func aligned(n int) {
	for i := 0; i < n/(256<<10); i++ {
		took("aligned", C.aligned(256<<10)) // truth: aligned
	}
}

//export calledBack
func calledBack(n C.size_t) {
	took("callback", C.keep(n)) // truth: callback
}

func callBack(n int) {
	for i := 0; i < n/8208; i++ {
		C.viaGo(8192)
	}
}

func text(n int) {
	long := strings.Repeat("x", 10000)
	for i := 0; i < n/10016; i++ {
		took("string", unsafe.Pointer(C.CString(long))) // truth: string
	}
}

// area is memory that the one who maps it does not write.
func area(n int) []byte {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE) // truth: mapper
	if err != nil {
		panic(err)
	}
	return b
}

func mapped(n int) {
	b := area(n)
	for i := 0; i < n; i += page {
		b[i] = 1 // truth: mmap
	}
	taken["mmap"] += int64(n)
}

// huge asks for huge pages: each of its faults makes 2 MiB resident, where it gets them.
func huge(n int) {
	const size = 2 << 20
	b := area(n + size)
	if err := syscall.Madvise(b, 14); err != nil { // MADV_HUGEPAGE
		panic(err)
	}
	b = b[-uintptr(unsafe.Pointer(&b[0]))%size:]
	for i := 0; i < n; i += page {
		b[i] = 1 // truth: huge
	}
	taken["huge"] += int64(n)
}

// write touches what others mapped.
func write(b []byte) {
	for i := 0; i < len(b); i += page {
		b[i] = 2 // truth: written
	}
}

// pool is memory that a function of C maps and another writes.
func pool(n int) {
	p := C.poolOpen(C.size_t(n)) // truth: pool
	C.poolWrite(p, C.size_t(n))
}

// moved maps memory, and has it moved and made larger by mremap before anything is written.
func moved(n int) {
	b := area(n)
	at, _, errno := syscall.Syscall6(syscall.SYS_MREMAP, uintptr(unsafe.Pointer(&b[0])), uintptr(n), uintptr(3*n), 1, 0, 0) // truth: mover
	if errno != 0 {
		panic(errno)
	}
	write(unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), 3*n))
}

// fixed maps memory at an address of its own.
func fixed(n int) {
	at := uintptr(0x7e0000000000) + uintptr(fixedSoFar)
	fixedSoFar += 2 * n
	const anon, isFixed = syscall.MAP_ANON | syscall.MAP_PRIVATE, 0x10
	got, _, errno := syscall.Syscall6(syscall.SYS_MMAP, at, uintptr(n), syscall.PROT_READ|syscall.PROT_WRITE, anon|isFixed, ^uintptr(0), 0) // truth: fixed
	if errno != 0 {
		panic(errno)
	}
	write(unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&got))), n))
}

var fixedSoFar int

// block is memory of malloc that another line writes.
func block(n int) {
	write(unsafe.Slice((*byte)(C.blockWithoutWrites(C.size_t(n))), n)) // truth: block
}

var kept [][]byte

func heap(n int) {
	for i := 0; i < n/(64<<10); i++ {
		b := make([]byte, 64<<10)
		for k := 0; k < len(b); k += page {
			b[k] = 1 // truth: heap
		}
		kept = append(kept, b)
		taken["heap"] += 64 << 10
	}
}

func large(n int) {
	for i := 0; i < n/(65552); i++ {
		took("large", C.keep(65536)) // truth: large
	}
}

func little(n int) {
	for i := 0; i < n/320; i++ {
		took("little", C.keep(300)) // truth: little
	}
}

// sites are what grows, by name; two are two lines of different weight.
func sites(only string) []func(int) {
	switch only {
	case "two":
		return []func(int){large, large, large, little}
	case "huge":
		return []func(int){huge}
	case "still":
		return []func(int){small, pages, deep, aligned, callBack, text, mapped, heap}
	case "mappers":
		return []func(int){pool, moved, fixed, block}
	case "wait-mmap":
		return []func(int){mapped}
	}
	return []func(int){small, pages, deep, reallocate, aligned, callBack, text, mapped, heap}
}

// tell prints the marked lines as JSON.
func tell() {
	type place struct{ Line int }
	at := map[string]place{}
	for i, line := range strings.Split(source, "\n") {
		if _, name, ok := strings.Cut(line, "// truth: "); ok && !strings.Contains(name, "\"") {
			at[name] = place{i + 1}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"Places": at}); err != nil {
		panic(err)
	}
}

// faults are those of this thread so far.
func faults() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(1, &u); err != nil { // RUSAGE_THREAD
		panic(err)
	}
	return u.Minflt
}

func main() {
	each := flag.Int("each", 512<<10, "bytes that each line takes in a round")
	rounds := flag.Int("rounds", 12, "rounds")
	pause := flag.Duration("pause", 0, "time between rounds")
	only := flag.String("only", "", "two, huge, mappers, still (all but realloc) or wait-mmap: these lines alone, the last once there is something on standard input; all by default")
	first := flag.Bool("first-touch", false, "print what each line had the kernel give it, by the page faults of its thread: an allocator may give a line pages that another one wrote before")
	truth := flag.Bool("truth", false, "print the lines and end")
	flag.Parse()
	if *truth {
		tell()
		return
	}
	if *only == "wait-mmap" {
		_, _ = syscall.Read(0, make([]byte, 1)) // until somebody is ready to watch
	}
	if *first {
		runtime.LockOSThread()
	}
	faulted := map[string]int64{}
	for i := 0; i < *rounds; i++ {
		for _, site := range sites(*only) {
			before, had := faults(), map[string]int64{}
			for name, n := range taken {
				had[name] = n
			}
			site(*each)
			for name := range taken {
				if taken[name] != had[name] {
					faulted[name] += (faults() - before) * page
				}
			}
		}
		time.Sleep(*pause)
	}
	if *first {
		taken = faulted
	}
	for _, name := range names {
		fmt.Fprintln(os.Stdout, name, taken[name])
	}
}
