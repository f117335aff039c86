// Package bp gives the frame pointer of its caller.
package bp

// Frame is where the caller's frame keeps its caller's frame pointer.
func Frame() uintptr
