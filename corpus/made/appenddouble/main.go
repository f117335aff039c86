// Appenddouble gathers numbers whose count it knows by appending them to a slice
// without room, so that at the last growth the old and the new one are there.
// Repaired, it makes room first.
package main

import (
	"log"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	f := frame.Parse()
	for !f.Over() {
		if all := gather(int(f.Total/8), f.Repaired); len(all) == 0 {
			log.Fatal("nothing was gathered")
		}
		time.Sleep(time.Second)
	}
}

func gather(n int, repaired bool) (all []int64) {
	if repaired {
		all = make([]int64, 0, n)
	}
	for i := range n {
		all = append(all, int64(i)) // truth: allocates
	}
	return all
}
