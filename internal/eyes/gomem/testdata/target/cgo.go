//go:build cgo

package main

// static int one(void) { return 1; }
import "C"

var linked = C.one()
