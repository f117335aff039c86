// Package limit bounds how often each address may ask, and remembers what it asked
// with last, for the abuse desk.
package limit

import (
	"container/list"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

type visitor struct {
	bucket *rate.Limiter
	last   []byte // head of the last request
	seen   time.Time
	place  *list.Element
}

// Guard knows the addresses that asked.
type Guard struct {
	PerSecond rate.Limit
	Most      int  // addresses
	Forget    bool // also their records

	mu       sync.Mutex
	visitors map[netip.Addr]*visitor
	recent   list.List // of netip.Addr; who asked last is in front
}

// Middleware refuses what comes too often.
func (g *Guard) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil {
			http.Error(w, "who are you?", http.StatusBadRequest)
			return
		}
		if !g.allow(from.Addr(), r) {
			http.Error(w, "too many requests", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g *Guard) allow(from netip.Addr, r *http.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.visitors[from]
	if v == nil {
		v = &visitor{bucket: rate.NewLimiter(g.PerSecond, 20), place: g.recent.PushFront(from)}
		if g.visitors == nil {
			g.visitors = map[netip.Addr]*visitor{}
		}
		g.visitors[from] = v // truth: keeps
	}
	g.recent.MoveToFront(v.place)
	v.seen = time.Now()
	if head, err := httputil.DumpRequest(r, false); err == nil { // truth: allocates
		v.last = head // truth: keeps
	}
	g.trim()
	return v.bucket.Allow()
}

// trim drops the addresses that were silent the longest.
func (g *Guard) trim() {
	for g.recent.Len() > g.Most {
		oldest := g.recent.Remove(g.recent.Back()).(netip.Addr)
		if g.Forget {
			delete(g.visitors, oldest)
		}
	}
}
