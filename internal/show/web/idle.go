package web

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Idle hands requests on and knows since when nobody has asked.
type Idle struct {
	http.Handler

	mu    sync.Mutex
	under int       // requests that are being answered
	last  time.Time // when the last one was over; zero: there was none
}

func (i *Idle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.change(1)
	defer i.change(-1)
	i.Handler.ServeHTTP(w, r)
}

func (i *Idle) change(by int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.under += by
	i.last = time.Now()
}

// since is when it became quiet; the present while it is not.
func (i *Idle) since(began time.Time) time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.under > 0:
		return time.Now()
	case i.last.After(began):
		return i.last
	}
	return began
}

// Wait returns true when nobody has asked for so long (0: it never does), false when
// ctx ends before.
func (i *Idle) Wait(ctx context.Context, long time.Duration) bool {
	if long <= 0 {
		<-ctx.Done()
		return false
	}
	began := time.Now()
	for {
		left := long - time.Since(i.since(began))
		if left <= 0 {
			return true
		}
		timer := time.NewTimer(left)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
		}
	}
}
