// Command plugin is what plugins opens.
package main

import "time"

var kept [][]byte

// Start keeps n bytes and starts a goroutine that waits in the plugin.
func Start(n int) {
	kept = append(kept, make([]byte, n))
	go wait(make(chan int))
	time.Sleep(50 * time.Millisecond)
}

//go:noinline
func wait(c chan int) { <-c }

func main() {}
