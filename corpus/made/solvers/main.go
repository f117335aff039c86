// Solvers plans the tours of lorries, by some dozen searches at once that go down a tree of
// choices, one call for each choice, to some thousand of them, and then try others at the lowest
// ones for long. What it needs is the stacks of these calls. No fault, and it has no faulty form.
package main

import (
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const (
	searchBytes = 3 << 20 // of a search's calls
	callBytes   = 224
	depth       = searchBytes / callBytes
)

// tour is a part of a plan, as a call knows it.
type tour struct {
	stops [40]int32
	load  int32
	cost  int64
}

type search struct {
	f      *frame.Frame
	number int
	best   int64
	tried  int
	down   *sync.WaitGroup
}

var tried atomic.Int64

// choose puts a stop into the tour, and goes on with the next one.
func (s *search) choose(t tour, level int) int64 {
	t.stops[level%len(t.stops)] = int32(level * s.number % 5000)
	t.load += int32(level % 9)
	t.cost += int64(t.stops[level%len(t.stops)])
	if level == depth {
		return s.improve(t)
	}
	cost := s.choose(t, level+1)
	if cost < t.cost {
		return t.cost - int64(t.load)
	}
	return cost
}

// improve exchanges stops of the last tour until the time is over.
func (s *search) improve(t tour) int64 {
	s.down.Done()
	s.best = t.cost
	for !s.f.Over() {
		for range 200 {
			a, b := s.tried%len(t.stops), s.tried*7%len(t.stops)
			t.stops[a], t.stops[b] = t.stops[b], t.stops[a]
			s.best = min(s.best, t.cost-int64(t.stops[a]))
			s.tried++
		}
		time.Sleep(20 * time.Millisecond)
	}
	tried.Add(int64(s.tried))
	return s.best
}

func main() {
	f := frame.Parse()
	var down, done sync.WaitGroup
	for n := range int(f.Total/searchBytes) + 1 {
		down.Add(1)
		done.Add(1)
		s := &search{f: f, number: n + 1, down: &down}
		go func() {
			defer done.Done()
			s.choose(tour{}, 0)
		}()
	}
	down.Wait()
	log.Print(frame.Done)
	done.Wait()
	log.Printf("%d tours tried", tried.Load())
}
