package app

import (
	"runtime/debug"
	"testing"
	"time"
)

// The heap may grow while a crowd is attached to, and not for longer; what is set at the end is
// what was before.
func TestACrowdsHeapGrowsWhileItIsAttachedTo(t *testing.T) {
	was, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	defer func() {
		debug.SetGCPercent(was)
		debug.SetMemoryLimit(limit)
	}()
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("GOMAXPROCS", "2") // leave it alone
	h := newThrift()
	h.expects(thriftCrowd - 1)
	if h.percent != thriftGOGC {
		t.Errorf("GOGC is %d for few programs", h.percent)
	}
	h.expects(100)
	h.watches(1)
	if h.percent != thriftBegins || debug.SetMemoryLimit(-1) <= thriftLimit+100*thriftEach {
		t.Errorf("GOGC is %d, the limit %d while a hundred are attached to", h.percent, debug.SetMemoryLimit(-1))
	}
	now := h.began
	for range 4 {
		now = now.Add(thriftEvery + time.Second)
		h.adjust(now)
	}
	if h.percent != thriftRests && h.percent != thriftGOGC || debug.SetMemoryLimit(-1) < thriftLimit+100*thriftEach {
		t.Errorf("GOGC is %d, the limit %d afterwards", h.percent, debug.SetMemoryLimit(-1))
	}
	h.cycles = 0
	h.sample[1].Value = h.sample[0].Value // very many collections since
	h.rest()
	if h.percent != thriftGOGC {
		t.Errorf("GOGC is %d where much is collected", h.percent)
	}
}
