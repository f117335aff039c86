// Command plugin is what plugins opens.
package main

import (
	"sort"
	"time"
)

var kept [][]byte

// Start keeps n bytes and starts a goroutine that waits in the plugin.
func Start(n int) {
	kept = append(kept, make([]byte, n))
	for i := 0; i < 100; i++ {
		keep(sized(500))
	}
	// The host calls this back.
	sort.Slice(kept, func(i, j int) bool {
		kept[0] = append(kept[0][:0:0], make([]byte, 700)...)
		return i < j
	})
	kept[0] = make([]byte, n)
	go wait(make(chan int))
	time.Sleep(50 * time.Millisecond)
}

// keep is inlined, and so is what it calls.
func keep[T ~[]byte](b T) { kept = append(kept, b) }

func sized(n int) []byte { return make([]byte, n) }

//go:noinline
func wait(c chan int) { <-c }

func main() {}
