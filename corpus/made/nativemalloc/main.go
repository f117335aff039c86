// Nativemalloc takes memory from C for every picture and does not free it.
// Repaired, it does. It needs cgo.
package main

// #include <stdlib.h>
// #include <string.h>
import "C"

import (
	"unsafe"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	f := frame.Parse()
	f.Each(func(i int) {
		p := decode(i, f.Unit)
		if f.Repaired {
			C.free(p)
		}
	})
	f.Stay()
}

func decode(i, size int) unsafe.Pointer {
	p := C.malloc(C.size_t(size))               // truth: allocates
	C.memset(p, C.int(i%255+1), C.size_t(size)) // truth: allocates
	return p
}
