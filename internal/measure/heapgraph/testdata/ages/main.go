// Command ages holds objects of which some were found alive by a garbage collection and
// others are younger than the last, says so, and waits until standard input ends.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
)

// record is an object with a part that has no pointers.
type record struct {
	next *record
	body []byte
}

const each = 3000

var (
	old, mixed, fresh      [2 * each]*record
	oldLarge, freshLarge   *[64 << 10]byte
	oldHeader, freshHeader [300]*[100]*record
)

func fill(all []*record) {
	for i := range all {
		all[i] = &record{body: make([]byte, 100)}
	}
}

func main() {
	fill(old[:])
	fill(mixed[:each])
	oldLarge = new([64 << 10]byte)
	for i := range oldHeader {
		oldHeader[i] = new([100]*record)
	}
	for i := range old { // so that new objects come between the old
		if i%3 == 0 {
			old[i].body = nil
		}
	}
	runtime.GC()
	fill(mixed[each:])
	fill(fresh[:])
	freshLarge = new([64 << 10]byte)
	for i := range freshHeader {
		freshHeader[i] = new([100]*record)
	}
	fmt.Println("{}")
	io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive([]any{old, mixed, fresh})
}
