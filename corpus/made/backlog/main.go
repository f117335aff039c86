// Backlog takes jobs faster than its worker does them, in two rounds, and a queue
// without a bound holds what waits; between the rounds the worker empties it.
// Repaired, the queue is a channel of 64, and who brings a job waits.
package main

import (
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type job struct{ body []byte }

type queue struct {
	mu      sync.Mutex
	waiting []*job
}

func main() {
	f := frame.Parse()
	q, bounded := &queue{}, make(chan *job, 64)
	bring, take := q.push, q.pop
	if f.Repaired {
		bring = func(j *job) { bounded <- j }
		take = func() *job { return <-bounded }
	}
	go work(f, take)
	f.For, f.Total = f.For/2, f.Total/2
	f.Each(func(int) { bring(newJob(f.Unit)) })
	f.For *= 2
	f.Stay()
}

func newJob(size int) *job {
	return &job{frame.Touch(make([]byte, size))} // truth: allocates
}

func (q *queue) push(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, j) // truth: keeps
}

func (q *queue) pop() *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil
	}
	j := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	return j
}

// work does jobs at a third of the rate at which they come.
func work(f *frame.Frame, take func() *job) {
	each := time.Duration(3 * float64(f.Unit) / float64(max(1, f.Rate)) * float64(time.Second))
	for sum := 0; ; {
		if j := take(); j != nil {
			sum += len(j.body)
		}
		time.Sleep(each)
	}
}
