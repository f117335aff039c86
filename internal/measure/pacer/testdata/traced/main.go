// Traced keeps 50 MiB live and makes 2400 MiB of garbage.
package main

import "runtime"

var garbage []byte

func main() {
	var live [][]byte
	for range 50 << 4 {
		live = append(live, make([]byte, 64<<10))
	}
	for range 2400 << 4 {
		garbage = make([]byte, 64<<10)
	}
	runtime.KeepAlive(live)
}
