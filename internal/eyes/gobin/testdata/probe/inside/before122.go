//go:build !go1.22

package inside

import "unsafe"

//go:linkname pcvalue runtime.pcvalue
func pcvalue(f funcInfo, off uint32, pc uintptr, cache unsafe.Pointer, strict bool) (int32, uintptr)

func spDeltaAt(f funcInfo, pc uintptr) int32 {
	delta, _ := pcvalue(f, f.fn[4], pc, nil, false)
	return delta
}
