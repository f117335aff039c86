// Ballast ranks what visitors may like. Somebody gave it a ballast, a slice that is never
// written to, so that the collector comes less often: with it the heap may grow to twice
// what is live and the ballast besides, for which its limit has no room. Repaired, there is
// none, and the collector knows the limit by -soft.
package main

import (
	"flag"
	"runtime"
	"runtime/debug"
	"sort"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type article struct {
	words  [14]uint64
	weight float64
}

type ranker struct{ articles []*article }

func newRanker(total int64) *ranker {
	r := &ranker{}
	for i := range int(total / 136) { // 128 bytes, and the pointer
		a := &article{weight: float64(i % 1009)} // truth: live
		for n := range a.words {
			a.words[n] = uint64(i * (n + 1))
		}
		r.articles = append(r.articles, a)
	}
	return r
}

// rank gives some articles for a visitor, the best first, in a list of size bytes.
func (r *ranker) rank(visitor, size int) *article {
	list := make([]*article, size/8) // truth: garbage
	for i := range list {
		list[i] = r.articles[(visitor*7919+i*31)%len(r.articles)]
	}
	part := list[:min(len(list), 64)]
	sort.Slice(part, func(a, b int) bool { return part[a].weight > part[b].weight })
	return part[0]
}

func main() {
	soft := flag.Int64("soft", 0, "soft memory limit of the repaired program, in bytes")
	f := frame.Parse()
	var ballast []byte
	if f.Repaired {
		if *soft > 0 {
			debug.SetMemoryLimit(*soft)
		}
	} else {
		ballast = make([]byte, 2*f.Total+64<<20) // truth: sets
	}
	r := newRanker(f.Total)
	f.Total = 0
	best := 0.0
	f.Each(func(i int) { best = max(best, r.rank(i, f.Unit).weight) })
	f.Stay()
	runtime.KeepAlive(ballast)
}
