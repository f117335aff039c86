//go:build cgo

package main

// int twice(int x) { return 2 * x; }
import "C"

func init() { native = func() int { return int(C.twice(21)) } }
