// Threads locks every watcher to a thread of the system's, up to 9,000 of them.
// Repaired, there are 16.
package main

import (
	"runtime"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	f := frame.Parse()
	most := min(9000, f.Count())
	if f.Repaired {
		most = 16
	}
	n := 0
	f.Each(func(int) {
		if n < most {
			n++
			go watch() // truth: starts
		}
	})
	f.Stay()
}

var end = make(chan struct{})

func watch() {
	runtime.LockOSThread()
	<-end // truth: waits
}
