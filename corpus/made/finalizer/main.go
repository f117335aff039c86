// Finalizer gives every handle a finalizer and a pointer to itself through its
// buffer: such a circle is never freed (package runtime, SetFinalizer). Repaired,
// there is no circle.
package main

import (
	"runtime"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type handle struct {
	file   int
	buffer *buffer
}

type buffer struct {
	owner *handle
	bytes []byte
}

func main() {
	f := frame.Parse()
	f.Each(func(i int) { open(i, f.Unit, f.Repaired) })
	f.Stay()
}

func open(i, size int, repaired bool) *handle {
	h := &handle{i, &buffer{bytes: frame.Touch(make([]byte, size))}} // truth: allocates
	if !repaired {
		h.buffer.owner = h // truth: keeps
	}
	runtime.SetFinalizer(h, func(h *handle) { h.file = -1 }) // truth: keeps
	return h
}
