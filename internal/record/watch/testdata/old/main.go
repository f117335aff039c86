// Old ends after some work. It builds with every Go since 1.20.
package main

import "time"

var sink []byte

func main() {
	for range [10]int{} {
		sink = make([]byte, 1<<20)
		time.Sleep(20 * time.Millisecond)
	}
}
