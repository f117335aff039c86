package capture

import (
	"container/heap"
	"sync"
	"time"
)

// Wheel is one timer for many loops: it wakes those that are due, and all that rest at the
// same instant by one wake-up. It may be used from several goroutines.
type Wheel struct {
	bell bell

	mu    sync.Mutex
	due   spokes
	armed time.Time // when the bell rings next; zero: it does not
}

// spoke is the alarm of one loop.
type spoke struct {
	at    time.Time
	c     chan struct{}
	index int // in the wheel's list; -1: it is not set
}

// NewWheel makes a Wheel. The caller closes it after the last loop.
func NewWheel() *Wheel {
	w := &Wheel{}
	w.bell = newBell(w.turn)
	return w
}

// Close ends the timer.
func (w *Wheel) Close() { w.bell.stop() }

// alarm is one of the wheel's.
func (w *Wheel) alarm() alarm {
	s := &spoke{c: make(chan struct{}, 1), index: -1}
	return alarm{C: s.c, set: func(d time.Duration) { w.set(s, d) }, stop: func() { w.remove(s) }}
}

func (w *Wheel) set(s *spoke, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.at = time.Now().Add(d); s.index >= 0 {
		heap.Fix(&w.due, s.index)
	} else {
		heap.Push(&w.due, s)
	}
	w.arm()
}

func (w *Wheel) remove(s *spoke) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.index >= 0 {
		heap.Remove(&w.due, s.index)
	}
}

// turn wakes those that are due.
func (w *Wheel) turn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = time.Time{}
	for now := time.Now(); len(w.due) > 0 && !w.due[0].at.After(now); {
		ring(heap.Pop(&w.due).(*spoke).c)
	}
	w.arm()
}

// arm has the bell ring when the first is due. One that rings too early does no harm.
func (w *Wheel) arm() {
	if len(w.due) == 0 || !w.armed.IsZero() && !w.due[0].at.Before(w.armed) {
		return
	}
	w.armed = w.due[0].at
	w.bell.set(time.Until(w.armed))
}

// spokes are in the order in which they are due (container/heap).
type spokes []*spoke

func (s spokes) Len() int           { return len(s) }
func (s spokes) Less(i, k int) bool { return s[i].at.Before(s[k].at) }
func (s spokes) Swap(i, k int) {
	s[i], s[k] = s[k], s[i]
	s[i].index, s[k].index = i, k
}

func (s *spokes) Push(x any) {
	one := x.(*spoke)
	one.index = len(*s)
	*s = append(*s, one)
}

func (s *spokes) Pop() any {
	last := len(*s) - 1
	one := (*s)[last]
	(*s)[last], *s = nil, (*s)[:last]
	one.index = -1
	return one
}
