// Retries delivers webhooks. What a subscriber refuses goes into a heap, by the time
// of its next try, which is further away after each; no try is the last one, and
// one subscriber refuses everything. Repaired, the third try is.
package main

import (
	"bytes"
	"container/heap"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type delivery struct {
	to    string
	body  []byte
	tries int
	next  time.Time
}

type schedule []*delivery

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].next.Before(s[j].next) }
func (s schedule) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *schedule) Push(x any)        { *s = append(*s, x.(*delivery)) } // truth: pushes
func (s *schedule) Pop() any {
	last := len(*s) - 1
	d := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	return d
}

type dispatcher struct {
	waiting schedule
	most    int // tries; 0: no bound
}

func main() {
	f := frame.Parse()
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "down for maintenance", http.StatusServiceUnavailable)
	}))
	d := &dispatcher{}
	if f.Repaired {
		d.most = 3
	}
	f.Each(func(i int) {
		d.deliver(event(refuses.URL, i, f.Unit))
		d.again(time.Now())
	})
	f.Stay()
}

func event(to string, i, size int) *delivery {
	body := frame.Touch(make([]byte, size)) // truth: allocates
	body[0] = byte(i)
	return &delivery{to: to, body: body}
}

// again tries some of those that are due.
func (d *dispatcher) again(now time.Time) {
	for n := 0; n < 3 && len(d.waiting) > 0 && d.waiting[0].next.Before(now); n++ {
		d.deliver(heap.Pop(&d.waiting).(*delivery))
	}
}

func (d *dispatcher) deliver(one *delivery) {
	answer, err := http.Post(one.to, "application/json", bytes.NewReader(one.body))
	if err == nil {
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if answer.StatusCode < 300 {
			return
		}
	}
	one.tries++
	if d.most > 0 && one.tries >= d.most {
		return
	}
	one.next = time.Now().Add(20 * time.Millisecond << min(one.tries, 12))
	heap.Push(&d.waiting, one) // truth: keeps
}
