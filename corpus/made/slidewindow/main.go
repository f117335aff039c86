// Slidewindow counts how often cards were used of late, to find the stolen ones. What is
// older than its window goes, so that it grows for as long as the window is and is as large
// from then on: no fault. It has no faulty form.
package main

import (
	"github.com/highwater-go/highwater/corpus/made/frame"
)

type use struct {
	card   int
	record []byte
}

// window keeps the newest values, and grows when it is asked to hold more.
type window[T any] struct {
	ring        []T
	from, count int
}

func (w *window[T]) push(v T) {
	if w.count == len(w.ring) {
		ring := make([]T, max(64, 2*w.count))
		for i := range w.count {
			ring[i] = w.ring[(w.from+i)%w.count]
		}
		w.ring, w.from = ring, 0
	}
	w.ring[(w.from+w.count)%len(w.ring)] = v
	w.count++
}

func (w *window[T]) pop() (v T) {
	v, w.ring[w.from] = w.ring[w.from], v
	w.from, w.count = (w.from+1)%len(w.ring), w.count-1
	return v
}

type detector struct {
	recent window[*use]
	byCard map[int]int
	most   int
	alarms int
}

func (d *detector) saw(u *use) {
	d.recent.push(u)
	if d.byCard[u.card]++; d.byCard[u.card] > 40 {
		d.alarms++
	}
	for d.recent.count > d.most {
		old := d.recent.pop()
		if d.byCard[old.card]--; d.byCard[old.card] == 0 {
			delete(d.byCard, old.card)
		}
	}
}

func main() {
	f := frame.Parse()
	d := &detector{byCard: map[int]int{}, most: f.Count()}
	f.Total = 0
	f.Each(func(i int) { d.saw(&use{i * 31 % 5000, frame.Touch(make([]byte, f.Unit))}) })
	f.Stay()
}
