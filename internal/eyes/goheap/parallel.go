package goheap

import (
	"runtime"
	"sync"
)

// maxWorkers bounds the threads of ours that copy and scan a heap: they share the
// machine with the program.
const maxWorkers = 4

func workers() int { return min(maxWorkers, runtime.GOMAXPROCS(0)) }

// parallel calls f so many times at once, with the numbers from 0 on, and waits.
func parallel(n int, f func(worker int)) {
	var all sync.WaitGroup
	for i := 1; i < n; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			f(i)
		}()
	}
	f(0)
	all.Wait()
}
