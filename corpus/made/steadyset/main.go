// Steadyset loads a large set at its start and answers from it ever after: no
// fault. It has no faulty form.
package main

import (
	"strconv"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	f := frame.Parse()
	set := load(f.Count(), f.Unit)
	sum := 0
	for i := 0; !f.Over(); i++ {
		sum += len(set[strconv.Itoa(i%len(set))])
		time.Sleep(time.Millisecond)
	}
}

func load(n, size int) map[string][]byte {
	set := make(map[string][]byte, n)
	for i := range n {
		set[strconv.Itoa(i)] = frame.Touch(make([]byte, size)) // truth: allocates
	}
	return set
}
