// Gcunaware holds Total, which fits its limit, and makes garbage over it: the
// collector does not know the limit and lets the heap double. Repaired, it is told
// by -soft.
package main

import (
	"flag"
	"runtime/debug"
	"strconv"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	soft := flag.Int64("soft", 0, "soft memory limit of the repaired program, in bytes")
	f := frame.Parse()
	if f.Repaired && *soft > 0 {
		debug.SetMemoryLimit(*soft)
	}
	set := load(f.Count(), f.Unit)
	f.Total, f.Unit = 0, 8<<10
	sum := 0
	f.Each(func(i int) { sum += len(answer(set, i)) })
}

func load(n, size int) map[string][]byte {
	set := make(map[string][]byte, n)
	for i := range n {
		set[strconv.Itoa(i)] = frame.Touch(make([]byte, size)) // truth: live
	}
	return set
}

func answer(set map[string][]byte, i int) []byte {
	from := set[strconv.Itoa(i%len(set))]
	return frame.Touch(append(make([]byte, 0, 8<<10), from[:min(len(from), 4<<10)]...)) // truth: garbage
}
