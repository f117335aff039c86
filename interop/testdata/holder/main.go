// Holder holds 24 MiB in pages of 16 KiB, and 2 MiB more after each of four collections, so that its peak is one
// whose heap profile has what it holds. Then it ends.
package main

import (
	"runtime"
	"runtime/pprof"
	"time"
)

type shelf struct{ pages [][]byte }

func (s *shelf) hold(mib int) {
	for range mib << 6 {
		page := make([]byte, 16<<10)
		for i := range page {
			page[i] = 1
		}
		s.pages = append(s.pages, page)
	}
}

func main() {
	_ = pprof.Profiles // the linker leaves the heap profile on
	s := &shelf{}
	s.hold(24)
	for range 4 {
		runtime.GC()
		runtime.GC() // the profile is that of the collection before
		s.hold(2)
		time.Sleep(300 * time.Millisecond)
	}
	runtime.KeepAlive(s)
}
