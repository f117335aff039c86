// Holder holds 24 MiB in pages of 16 KiB and ends.
package main

import (
	"runtime"
	"runtime/pprof"
	"time"
)

type shelf struct{ pages [][]byte }

func (s *shelf) hold() {
	for range 24 << 6 {
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
	s.hold()
	for range 3 {
		runtime.GC()
		time.Sleep(300 * time.Millisecond)
	}
	runtime.KeepAlive(s)
}
