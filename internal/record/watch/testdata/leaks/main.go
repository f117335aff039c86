// Leaks allocates known numbers of objects of known sizes, keeps them all, and
// ends. It builds with every Go since 1.20, and its linker has switched heap
// profiling off, unless it is built with the tag on.
//
// Its argument is what it sets runtime.MemProfileRate to when half is allocated, and
// INIT_RATE what it sets it to before main.
package main

import (
	"os"
	"runtime"
	"strconv"
	"time"
)

type small struct {
	next *small
	_    [56]byte
}

var (
	list  *small
	pages [8192]*[4096]byte
	large [32]*[1 << 20]byte
	first *[16 << 20]byte
)

func init() {
	if rate, err := strconv.Atoi(os.Getenv("INIT_RATE")); err == nil {
		runtime.MemProfileRate = rate
		// To Go 1.23 the first sample of a P comes when the rate of its beginning says so
		// (runtime/mcache.go, nextSample): at 512 KiB after 9.4 MB at the latest.
		runtime.GOMAXPROCS(1)
		first = new([16 << 20]byte)
	}
}

func main() {
	keepSmall(1 << 18)
	if len(os.Args) > 1 {
		rate, err := strconv.Atoi(os.Args[1])
		if err != nil {
			panic(err)
		}
		time.Sleep(200 * time.Millisecond) // for whoever looks at it before
		runtime.MemProfileRate = rate
	}
	keepSmall(1 << 18)
	keepPages()
	keepLarge()
	os.Exit(3)
}

//go:noinline
func keepSmall(n int) {
	for ; n > 0; n-- {
		list = &small{next: list}
	}
}

//go:noinline
func keepPages() {
	for i := range pages {
		pages[i] = new([4096]byte)
	}
}

//go:noinline
func keepLarge() {
	for i := range large {
		large[i] = new([1 << 20]byte)
	}
}
