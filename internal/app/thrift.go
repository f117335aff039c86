package app

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The memory that a watch is meant to take: its own Go heap and runtime, beside
// which come the pages of its executable. A program with very many allocation
// sites makes it need more.
const (
	thriftLimit = 20 << 20
	thriftEach  = 256 << 10 // more for each program
	thriftEvery = 10 * time.Second
	thriftGOGC  = 50
	// thriftBegins is GOGC while many programs are attached to: what is live doubles several times
	// within a second, and the collections for each step took a quarter of the time.
	thriftBegins = 100
	// thriftRests is GOGC of a crowd at rest, where a collection each ten seconds at most is due
	// all the same: of what is live and of stacks a quarter less is left lying.
	thriftRests = 25
	// Of that many programs and more, recordings sleep while they rest, and what of our
	// executable was needed just now is given back again and again: a page brings fifteen others
	// along, and all come from the page cache.
	thriftCrowd  = 8
	thriftProcs  = 1
	liveHeapName = "/gc/heap/live:bytes"
	cyclesName   = "/gc/cycles/total:gc-cycles"
)

// thrift keeps a watch small beside the program that it watches: a lower GOGC, a
// memory limit that follows what is live, and one processor, so that no thread of ours looks for work that is not there.
type thrift struct {
	next    time.Time
	sample  []metrics.Sample
	forgot  bool // what only the beginning needed was given back
	shares  bool // the program's memory limit is ours, too
	crowd   int  // how many programs are watched
	began   time.Time
	calm    int    // GOGC, 0: it is the user's
	percent int    // as it is
	cycles  uint64 // collections so far
	hurries bool   // it is more just now
}

// watches raises the limit for so many programs: without it the collector would run all along
// while they are attached to.
func (t *thrift) watches(programs int) {
	if t.hurries && programs < t.crowd {
		return // more are expected
	}
	if t.crowd = programs; t.sample != nil && programs > 1 {
		debug.SetMemoryLimit(t.least())
	}
}

// expects lets the heap grow while so many programs are about to be attached to.
func (t *thrift) expects(programs int) {
	if programs < thriftCrowd || t.calm == 0 || t.sample == nil || t.hurries || time.Since(t.began) >= thriftEvery {
		return
	}
	t.hurries, t.crowd = true, programs
	t.collectAt(thriftBegins)
	debug.SetMemoryLimit(t.least())
}

// least is the limit where little is live.
func (t *thrift) least() int64 {
	least := thriftLimit + int64(t.crowd)*thriftEach
	if t.hurries {
		least += least / 4
	}
	return least
}

// newThrift leaves alone what the user's environment sets.
func newThrift() *thrift {
	if runtime.GOMAXPROCS(0) > thriftProcs && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(thriftProcs)
	}
	t := &thrift{began: time.Now(), sample: []metrics.Sample{{Name: liveHeapName}, {Name: cyclesName}}}
	if os.Getenv("GOGC") == "" {
		t.calm = thriftGOGC
		t.collectAt(t.calm)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(thriftLimit)
	} else {
		t.sample = nil
	}
	return t
}

// adjust raises the limit where half of it is live: a limit that is too near the
// live heap would keep the collector running.
func (t *thrift) adjust(now time.Time) {
	if t.sample == nil || now.Before(t.next) {
		return
	}
	if !t.next.IsZero() && (!t.forgot || t.crowd >= thriftCrowd) {
		t.forgot = true
		forgetExecutable()
	}
	if t.hurries && now.Sub(t.began) >= thriftEvery {
		t.hurries = false
		t.collectAt(t.calm)
		debug.FreeOSMemory() // a collection, once
	}
	t.next = now.Add(thriftEvery)
	metrics.Read(t.sample)
	t.rest()
	if live := t.sample[0].Value; live.Kind() == metrics.KindUint64 {
		debug.SetMemoryLimit(max(t.least(), int64(2*live.Uint64())+thriftLimit/2))
	}
}

// rest has garbage collected earlier where there is little of it.
func (t *thrift) rest() {
	cycles := t.sample[1].Value
	if t.hurries || t.calm == 0 || cycles.Kind() != metrics.KindUint64 {
		return
	}
	few := cycles.Uint64()-t.cycles <= 1
	t.cycles = cycles.Uint64()
	if few && t.crowd >= thriftCrowd {
		t.collectAt(thriftRests)
	} else {
		t.collectAt(t.calm)
	}
}

// collectAt sets GOGC.
func (t *thrift) collectAt(percent int) {
	if t.percent != percent {
		t.percent = percent
		debug.SetGCPercent(percent)
	}
}

// end lets the explanation, which comes after the program's end, have what it
// needs: half of what is free, under the limit of a program that may have left others. Where that limit cannot
// be seen it may be a low one.
func (t *thrift) end() {
	limit := int64(math.MaxInt64)
	if free, seen := ownFree(); t.shares && seen {
		limit = max(thriftLimit, int64(free/2))
	} else if t.shares {
		limit = thriftLimit
	} else if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(100)
	}
	t.sample = nil
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}
