// Command bomb is a Go program whose runtime's structures were made to harm whoever reads
// them. It says "ready" and waits:
//
//	bomb -buckets 3000000 -frames 4     a heap profile of so many allocation sites
//	bomb -buckets 1000 -circle          whose list leads into itself
//	bomb -goroutines 1099511627776      a count of goroutines that no memory holds
//	bomb -threads 9000                  real threads
//	bomb -spans 100000 -allspans 65800  spans of the heap, each 64 MiB above the one before;
//	                                    mheap_.allspans lies so far behind mheap_
//	bomb -span-list 60000000 -allspans 65800  a list of spans that takes no memory here
//	bomb -heap 2147483648               a real heap of small objects, each with a pointer
//
// It is linked with -checklinkname=0, to reach the runtime's variables.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

//go:linkname mbuckets runtime.mbuckets
var mbuckets unsafe.Pointer

//go:linkname mheap runtime.mheap_
var mheap byte

//go:linkname allglen runtime.allglen
var allglen uintptr

// bucket is the header of runtime.bucket (runtime/mprof.go, Go 1.26); the stack follows,
// and then a record of 128 bytes.
type bucket struct {
	next, allnext uintptr
	typ           int // 1: of the heap profile
	hash          uintptr
	size, nstk    uintptr
}

const record = 128

type node struct {
	next *node
	_    [56]byte
}

var kept *node

func main() {
	buckets := flag.Int("buckets", 0, "allocation sites")
	frames := flag.Int("frames", 4, "of each")
	circle := flag.Bool("circle", false, "the list of them has no end")
	goroutines := flag.Uint64("goroutines", 0, "goroutines that the runtime says there are")
	threads := flag.Int("threads", 0, "threads")
	spans := flag.Int("spans", 0, "spans of the heap")
	spanList := flag.Int("span-list", 0, "spans that the runtime says there are")
	allspans := flag.Uint64("allspans", 0, "offset of mheap_.allspans")
	heap := flag.Int("heap", 0, "bytes of live objects")
	flag.Parse()
	for range *threads {
		go func() {
			runtime.LockOSThread()
			select {}
		}()
	}
	for range *heap / int(unsafe.Sizeof(node{})) {
		kept = &node{next: kept}
	}
	runtime.GC()
	runtime.MemProfile(nil, false) // else the linker switches it off
	if *buckets > 0 {
		lay(*buckets, *frames, *circle)
	}
	if n := max(*spans, *spanList); n > 0 {
		list := (*[]uintptr)(unsafe.Add(unsafe.Pointer(&mheap), *allspans))
		*list = spread(*list, *spans, n)
	}
	if *goroutines > 0 {
		allglen = uintptr(*goroutines)
	}
	fmt.Println("ready")
	var b [1]byte
	_, _ = syscall.Read(0, b[:]) // no collection and no goroutine comes any more
	runtime.KeepAlive(kept)
	os.Exit(0)
}

// spread is a list of n spans, of which some are there: copies of real ones, each in an
// arena of its own.
func spread(real []uintptr, some, n int) []uintptr {
	const size, startAddr, arena = 512, 24, 64 << 20 // of an mspan, and of an arena
	list := unsafe.Slice((*uintptr)(unsafe.Pointer(&reserve(8 * n)[0])), n)
	if some == 0 {
		list[0] = real[0] // the others take no memory
		return list
	}
	mem := reserve(some * size)
	for i := range some {
		copy(mem[i*size:], unsafe.Slice((*byte)(unsafe.Pointer(real[i%len(real)])), 160))
		*(*uintptr)(unsafe.Pointer(&mem[i*size+startAddr])) += uintptr(i) * arena
		list[i] = uintptr(unsafe.Pointer(&mem[i*size]))
	}
	return list
}

// reserve is memory outside of the heap that is zero, and counts once it is written to.
func reserve(n int) []byte {
	mem, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return mem
}

// lay makes a list of buckets outside of the heap and has the runtime begin it.
func lay(n, frames int, circle bool) {
	size := int(unsafe.Sizeof(bucket{})) + 8*frames + record
	mem := reserve(n * size)
	base := uintptr(unsafe.Pointer(&mem[0]))
	pc, _, _, _ := runtime.Caller(0)
	for i := range n {
		b := (*bucket)(unsafe.Pointer(&mem[i*size]))
		*b = bucket{allnext: base + uintptr((i+1)*size), typ: 1, size: uintptr(16 + i%4096), nstk: uintptr(frames)}
		if i == n-1 {
			b.allnext = 0
		}
		if i == n-1 && circle {
			b.allnext = base
		}
		stack := unsafe.Slice((*uintptr)(unsafe.Pointer(&mem[i*size+int(unsafe.Sizeof(*b))])), frames)
		for j := range stack {
			stack[j] = pc - uintptr((i+j)%512)
		}
		counts := unsafe.Slice((*uintptr)(unsafe.Pointer(&mem[i*size+int(unsafe.Sizeof(*b))+8*frames])), 2)
		counts[0] = 1
	}
	mbuckets = unsafe.Pointer(&mem[0])
}
