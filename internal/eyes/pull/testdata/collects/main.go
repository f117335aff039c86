// Collects is a program that any Go from 1.20 on builds: it remembers 2 MiB a
// round, makes as much garbage, collects after each, and says how often there
// was a collection.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

var memory, scratch [][]byte

func main() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	for n := 0; n < rounds; n++ {
		scratch = nil
		for i := 0; i < 256; i++ {
			memory = append(memory, make([]byte, 8<<10))
			scratch = append(scratch, make([]byte, 8<<10))
		}
		scratch = nil
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Println("collections", m.NumGC)
}
