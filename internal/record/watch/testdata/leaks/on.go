//go:build on

package main

import "runtime"

// MemProfile is reached, so the linker leaves profiling on.
var _, _ = runtime.MemProfile(nil, true)
