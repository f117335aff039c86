// Command heapshapes builds one shape of heap whose holder and size are known, says
// on standard output how large it is, and waits until standard input ends.
//
//	heapshapes SHAPE N
//
// The answer is one line of JSON: after two collections the objects and bytes that
// the runtime counts, and how many of those went with the shape when it was dropped,
// which is what its holder retained.
package main

import (
	"encoding/json"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

// answer is what is known of the shape.
type answer struct {
	Objects  uint64 // all of the heap
	Bytes    uint64
	Retained uint64 // bytes that the shape keeps
	Shape    uint64 // objects of the shape
}

func main() {
	debug.SetGCPercent(-1)
	n, err := strconv.Atoi(os.Args[2])
	build := shapes[os.Args[1]]
	if err != nil || build == nil {
		os.Stderr.WriteString("no such shape\n")
		os.Exit(2)
	}
	runtime.MemProfileRate = 4 << 10
	startThreads(8)
	build(1) // whatever the first use of a kind allocates once
	drop()
	before := measure()
	build(n)
	runtime.MemProfileRate = 0
	after := measure()
	if late[os.Args[1]] {
		build(n)
	}
	said, _ := json.Marshal(answer{after.HeapObjects, after.HeapAlloc, after.HeapAlloc - before.HeapAlloc, after.HeapObjects - before.HeapObjects})
	os.Stdout.Write(append(said, '\n'))
	io.Copy(io.Discard, os.Stdin)
	drop()
}

// startThreads has the runtime start n threads, which stay: their descriptors are objects,
// and are not to come between two measurements.
func startThreads(n int) {
	there, done := make(chan bool), make(chan bool)
	for i := 0; i < n; i++ {
		go func() {
			runtime.LockOSThread()
			there <- true
			<-done
			runtime.UnlockOSThread()
			there <- true
		}()
	}
	for i := 0; i < n; i++ {
		<-there
	}
	close(done)
	for i := 0; i < n; i++ {
		<-there
	}
}

var stats runtime.MemStats

func measure() runtime.MemStats {
	for i := 0; i < 3; i++ {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats
}
