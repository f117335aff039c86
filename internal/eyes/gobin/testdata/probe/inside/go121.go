//go:build go1.21

package inside

import (
	"runtime"
	_ "unsafe"
)

//go:linkname symbolName runtime/pprof.runtime_FrameSymbolName
func symbolName(f *runtime.Frame) string
