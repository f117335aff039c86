// Allocator is a program that keeps blocks of C's allocator which known lines asked for, in several
// ways, and gives others back. It prints how many bytes of each line are live. Its verdict is
// native memory. It needs a C compiler.
package main

/*
#cgo LDFLAGS: -lpthread
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern void *calledBack(size_t);

static volatile int depth; // written after a call, so that it is not turned into a jump

__attribute__((noinline)) static void *keep(size_t n) { void *p = malloc(n); depth = 3; return p; }
__attribute__((noinline)) static void *innermost(size_t n) { void *p = calloc(n / 8, 8); depth = 3; return p; }
__attribute__((noinline)) static void *inner(size_t n) { void *p = innermost(n); depth = 2; return p; }
__attribute__((noinline)) static void *deep(size_t n) { void *p = inner(n); depth = 1; return p; }
__attribute__((noinline)) static void *larger(void *p, size_t n) { void *q = realloc(p, n); depth = 1; return q; }
__attribute__((noinline)) static void *aligned(size_t n) { void *p = NULL; depth = posix_memalign(&p, 4096, n); return p; }
__attribute__((noinline)) static void *alignedTo(size_t n) { void *p = aligned_alloc(64, n); depth = 1; return p; }
__attribute__((noinline)) static void *viaGo(size_t n) { void *p = calledBack(n); depth = 1; return p; }

static void churn(int times) {
	for (int i = 0; i < times; i++) free(keep(200 + i % 100));
}

// ownThread keeps blocks on a thread that Go knows nothing of.
struct job { size_t n; int times; void *kept; };
__attribute__((noinline)) static void *ownThread(void *arg) {
	struct job *j = arg;
	for (int i = 0; i < j->times; i++) {
		void **p = malloc(j->n);
		*p = j->kept;
		j->kept = p;
	}
	return NULL;
}
static void *onThread(size_t n, int times) {
	struct job j = {n, times, NULL};
	pthread_t t;
	if (pthread_create(&t, NULL, ownThread, &j)) abort();
	pthread_join(t, NULL);
	return j.kept;
}
*/
import "C"

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

//go:embed main.go
var source string

// names are the marked lines.
var names = []string{"small", "page", "deep", "realloc", "aligned", "alignedto", "callback", "string", "halved", "churn", "thread", "large", "little"}

// live is what each line keeps, in bytes.
var live = map[string]int64{}

// kept is where it is: freed at the end where that is asked for.
var kept []unsafe.Pointer

func keeps(name string, n int, p unsafe.Pointer) {
	live[name] += int64(n)
	kept = append(kept, p)
}

func small(n int) {
	for i := 0; i < n/96; i++ {
		keeps("small", 96, C.malloc(96)) // truth: small
	}
}

func pages(n int) {
	for i := 0; i < n/4080; i++ {
		keeps("page", 4080, C.keep(4080)) // truth: page
	}
}

func deep(n int) {
	for i := 0; i < n/20000; i++ {
		keeps("deep", 20000, C.deep(20000)) // truth: deep
	}
}

// reallocate grows blocks from nothing, in steps.
func reallocate(n int) {
	for i := 0; i < n/8000; i++ {
		var p unsafe.Pointer
		for size := C.size_t(1000); size <= 8000; size *= 2 {
			p = C.larger(p, size) // truth: realloc
		}
		keeps("realloc", 8000, p)
	}
}

func aligned(n int) {
	for i := 0; i < n/100_000; i++ {
		keeps("aligned", 100_000, C.aligned(100_000)) // truth: aligned
	}
}

func alignedTo(n int) {
	for i := 0; i < n/640; i++ {
		keeps("alignedto", 640, C.alignedTo(640)) // truth: alignedto
	}
}

//export calledBack
func calledBack(n C.size_t) unsafe.Pointer {
	return C.keep(n) // truth: callback
}

func callBack(n int) {
	for i := 0; i < n/8192; i++ {
		keeps("callback", 8192, C.viaGo(8192))
	}
}

func text(n int) {
	long := strings.Repeat("x", 9999)
	for i := 0; i < n/10000; i++ {
		keeps("string", 10000, unsafe.Pointer(C.CString(long))) // truth: string
	}
}

// halved frees every other block.
func halved(n int) {
	for i := 0; i < n/500; i++ {
		p, q := C.keep(1000), C.keep(1000) // truth: halved
		C.free(q)
		keeps("halved", 1000, p)
	}
}

func churn(n int) {
	C.churn(C.int(n / 100)) // truth: churn
}

func thread(n int) {
	live["thread"] += int64(n / 3000 * 3000)
	kept = append(kept, C.onThread(3000, C.int(n/3000))) // truth: thread
}

func large(n int) {
	for i := 0; i < n/65536; i++ {
		keeps("large", 65536, C.keep(65536)) // truth: large
	}
}

func little(n int) {
	for i := 0; i < n/300; i++ {
		keeps("little", 300, C.keep(300)) // truth: little
	}
}

// sites are what allocates, by name; two are two lines of different weight.
func sites(only string) []func(int) {
	switch only {
	case "two":
		return []func(int){large, large, large, little}
	case "thread":
		return []func(int){thread}
	case "freed":
		return []func(int){pages, small}
	case "churn":
		return []func(int){churn}
	}
	return []func(int){small, pages, deep, reallocate, aligned, alignedTo, callBack, text, halved, churn}
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

// bench frees so many blocks as it allocates, and says how much processor time a pair took.
func bench(pairs int) {
	before := used()
	C.churn(C.int(pairs))
	fmt.Printf("%d pairs, %.1f ns each\n", pairs, float64(used()-before)/float64(pairs))
}

// used is the processor time until now, in ns.
func used() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func main() {
	each := flag.Int("each", 512<<10, "bytes that each line allocates in a round")
	rounds := flag.Int("rounds", 4, "rounds")
	pause := flag.Duration("pause", 0, "time between rounds")
	only := flag.String("only", "", "two, thread, freed or churn: these lines alone")
	wait := flag.Bool("wait", false, "begin once there is something on standard input")
	pairs := flag.Int("pairs", 0, "allocate and free so many blocks, say how long that took, and end")
	truth := flag.Bool("truth", false, "print the lines and end")
	flag.Parse()
	if *truth {
		tell()
		return
	}
	if *wait {
		_, _ = syscall.Read(0, make([]byte, 1)) // until somebody is ready to watch
	}
	if *pairs > 0 {
		bench(*pairs)
		return
	}
	for i := 0; i < *rounds; i++ {
		for _, site := range sites(*only) {
			site(*each)
		}
		time.Sleep(*pause)
	}
	if *only == "freed" {
		for _, p := range kept {
			C.free(p)
		}
		live = map[string]int64{}
	}
	for _, name := range names {
		fmt.Fprintln(os.Stdout, name, live[name])
	}
}
