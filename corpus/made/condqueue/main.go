// Condqueue gives each tenant that comes a queue with two workers, and closes it when the
// tenant has gone. The close wakes one of those who wait, and the other one waits for ever,
// with the queue. Repaired, it wakes all.
package main

import (
	"sync"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type task func(scratch []byte)

type queue struct {
	mu      sync.Mutex
	more    *sync.Cond
	tasks   []task
	closed  bool
	wakeAll bool
	idle    sync.WaitGroup
}

func newQueue(workers, scratch int, wakeAll bool) *queue {
	q := &queue{wakeAll: wakeAll}
	q.more = sync.NewCond(&q.mu)
	q.idle.Add(workers)
	for range workers {
		go q.work(scratch) // truth: starts
	}
	return q
}

func (q *queue) work(size int) {
	scratch := frame.Touch(make([]byte, size)) // truth: allocates
	for first := true; ; first = false {
		t := q.take(first)
		if t == nil {
			return
		}
		t(scratch)
	}
}

func (q *queue) take(first bool) task {
	q.mu.Lock()
	defer q.mu.Unlock()
	if first {
		q.idle.Done()
	}
	for len(q.tasks) == 0 {
		if q.closed {
			return nil
		}
		q.more.Wait() // truth: waits
	}
	t := q.tasks[0]
	q.tasks = q.tasks[1:]
	return t
}

func (q *queue) put(t task) {
	q.mu.Lock()
	q.tasks = append(q.tasks, t)
	q.mu.Unlock()
	q.more.Signal()
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	if q.wakeAll {
		q.more.Broadcast()
		return
	}
	q.more.Signal() // truth: wakes
}

type tenants struct {
	wakeAll bool
	plans   [][]byte // 24 MiB
}

// visit is one tenant, from coming to going.
func (t *tenants) visit(i, size int) {
	q := newQueue(2, size, t.wakeAll)
	q.idle.Wait()
	done := make(chan bool)
	q.put(func(scratch []byte) {
		scratch[i%len(scratch)] ^= t.plans[i%len(t.plans)][0]
		done <- true
	})
	<-done
	q.close()
}

func main() {
	f := frame.Parse()
	t := &tenants{wakeAll: f.Repaired}
	for range 24 << 6 {
		t.plans = append(t.plans, frame.Touch(make([]byte, 16<<10)))
	}
	f.Each(func(i int) { t.visit(i, f.Unit) })
	f.Stay()
}
