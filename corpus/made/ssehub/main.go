// Ssehub streams the scores of matches as server-sent events. A subscriber that goes
// away is marked and gets nothing more, but stays in the list with what was written
// for it. Repaired, it is taken out.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type match struct {
	home, away string
	goals      [2]int
	report     []byte
}

type subscriber struct {
	out  bytes.Buffer // what it is sent first: all open matches
	news chan string
	gone bool
}

type broker struct {
	mu          sync.Mutex
	matches     []*match
	subscribers []*subscriber
	first       int // bytes
	remove      bool
}

func main() {
	f := frame.Parse()
	b := &broker{first: f.Unit, remove: f.Repaired}
	for i := range 1500 { // 23 MiB
		m := &match{home: fmt.Sprintf("club-%d", i), away: fmt.Sprintf("club-%d", i*7%1500)}
		m.report = bytes.Repeat([]byte("A header from the left. "), 680)
		b.matches = append(b.matches, m)
	}
	go func() {
		for i := 0; ; i++ {
			b.score(i)
			time.Sleep(50 * time.Millisecond)
		}
	}()
	f.Each(func(int) { visit(b) })
	f.Stay()
}

// visit is a reader who looks at the first page and goes.
func visit(b *broker) {
	ctx, leave := context.WithCancel(context.Background())
	r := httptest.NewRequest(http.MethodGet, "/scores", nil).WithContext(ctx)
	b.ServeHTTP(&page{leave: leave, head: http.Header{}}, r)
}

type page struct {
	leave context.CancelFunc
	head  http.Header
	read  int
}

func (p *page) Header() http.Header { return p.head }
func (p *page) WriteHeader(int)     {}
func (p *page) Flush()              { p.leave() }
func (p *page) Write(b []byte) (int, error) {
	p.read += len(b)
	return len(b), nil
}

func (b *broker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	flusher, ok := w.(http.Flusher)
	if !ok {
		http.Error(w, "no streaming here", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := b.subscribe()
	defer b.unsubscribe(s)
	if _, err := w.Write(s.out.Bytes()); err != nil {
		return
	}
	flusher.Flush()
	for {
		select {
		case news := <-s.news:
			fmt.Fprintf(w, "event: score\ndata: %s\n\n", news)
			flusher.Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func (b *broker) subscribe() *subscriber {
	s := &subscriber{news: make(chan string, 8)}
	b.mu.Lock()
	defer b.mu.Unlock()
	s.out.Grow(b.first + 200) // truth: allocates
	for i := 0; s.out.Len() < b.first; i++ {
		m := b.matches[i%len(b.matches)]
		fmt.Fprintf(&s.out, "event: match\ndata: %s %s %d:%d %s\n\n", m.home, m.away, m.goals[0], m.goals[1], m.report[:96]) // truth: writes
	}
	b.subscribers = append(b.subscribers, s) // truth: keeps
	return s
}

func (b *broker) unsubscribe(s *subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.gone = true // truth: forgets
	if i := slices.Index(b.subscribers, s); b.remove && i >= 0 {
		b.subscribers = slices.Delete(b.subscribers, i, i+1)
	}
}

// score tells everybody of a goal. Who does not keep up misses it.
func (b *broker) score(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.matches[i%len(b.matches)]
	m.goals[i%2]++
	for _, s := range b.subscribers {
		if s.gone {
			continue
		}
		select {
		case s.news <- m.home:
		default:
		}
	}
}
