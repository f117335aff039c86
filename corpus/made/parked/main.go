// Parked starts up to 100,000 goroutines that wait for work, each with a stack that
// one deep call has grown. Repaired, there are 1,000.
package main

import "github.com/highwater-go/highwater/corpus/made/frame"

func main() {
	f := frame.Parse()
	n := min(100_000, f.Count())
	if f.Repaired {
		n = 1000
	}
	work := make(chan int)
	for range n {
		go worker(work) // truth: starts
	}
	f.Stay()
}

func worker(work chan int) {
	deep(4)
	for n := range work { // truth: waits
		deep(n)
	}
}

// deep needs some hundred bytes of stack for each level.
func deep(n int) byte {
	var room [256]byte
	room[n] = byte(n)
	if n > 0 {
		room[0] += deep(n - 1)
	}
	return room[0] + room[n]
}
