// Pagerankjob reads the links between pages, computes a rank for each, prints the first
// of them and ends. It grows as long as it reads, and that is its work: no fault. It has
// no faulty form.
package main

import (
	"cmp"
	"fmt"
	"log"
	"math"
	"slices"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// linkBytes is what a link takes, with its part of the page that it is on.
const linkBytes = 12

type web struct {
	number map[string]int32
	names  []string
	links  [][]int32 // of each page, to which
	rank   []float64
}

func main() {
	f := frame.Parse()
	w := &web{number: map[string]int32{}}
	f.EachAtWork(func(i int) { w.read(i, max(1, f.Unit/linkBytes)) })
	rounds := 0
	for change := 1.0; change > 1e-6 && rounds < 40 && !f.Over(); rounds++ {
		change = w.step()
	}
	best := slices.MaxFunc(w.names, func(a, b string) int { return cmp.Compare(w.rank[w.number[a]], w.rank[w.number[b]]) })
	log.Printf("%d pages, %d rounds, first is %s", len(w.names), rounds, best)
}

// read takes n links of a crawl, which has twenty on a page.
func (w *web) read(part, n int) {
	for at := 0; at < n; at += 20 {
		from := w.page(fmt.Sprintf("https://site-%d.example.org/%d", part%100, part*n+at))
		links := make([]int32, 0, min(20, n-at)) // truth: allocates
		for k := range cap(links) {
			links = append(links, int32((int(from)*31+k*7919)%len(w.names)))
		}
		w.links[from] = append(w.links[from], links...)
	}
}

func (w *web) page(name string) int32 {
	n, ok := w.number[name]
	if !ok {
		n = int32(len(w.names))
		w.number[name] = n // truth: allocates
		w.names, w.links = append(w.names, name), append(w.links, nil)
		w.rank = append(w.rank, 1)
	}
	return n
}

// step is one round, and gives the largest change.
func (w *web) step() (change float64) {
	next := make([]float64, len(w.rank))
	for from, links := range w.links {
		for _, to := range links {
			next[to] += w.rank[from] / float64(len(links))
		}
	}
	for i, r := range next {
		r = 0.15 + 0.85*r
		change = max(change, math.Abs(r-w.rank[i]))
		w.rank[i] = r
	}
	return change
}
