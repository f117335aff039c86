//go:build !go1.21

package inside

import "runtime"

// symbolName: Go 1.20 knows one name only.
func symbolName(f *runtime.Frame) string { return f.Function }
