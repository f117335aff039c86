package explain

import (
	"slices"

	"github.com/highwater-go/highwater/internal/sample"
)

// flight is how the blamed memory and the calls around it go together.
//
// What a function returns outlives its call, yet not the call of whoever asked
// for it: a request's rows are held by the handler long after the line that
// allocated them has returned. So calls are those of the outermost caller that
// comes and goes.
type flight struct {
	name    string       // the function to name: the innermost caller that most of the calls are inside of
	calls   int          // goroutines inside it at the moment
	running int          // goroutines whose stacks were not read
	held    sample.Bytes // allocated under it and held
	outer   int          // index of the outermost caller that comes and goes
	seenAt  float64      // seconds since the start: when that was, 0 for the moment
	loop    bool         // a caller further out never returned: it works off one thing after the other
	call    call
}

// inFlight counts the goroutines that stand inside each of the functions, and
// those that ran at that instant, whose stacks cannot be read.
func inFlight(groups []sample.GoroutineGroup, callers []Caller) (calls []int, unseen int) {
	calls = make([]int, len(callers))
	for _, g := range groups {
		if len(g.Stack) == 0 && len(g.Where) == 0 {
			if g.State == "running" {
				unseen += g.Count
			}
			continue
		}
		for i, k := range callers {
			if stands(g.Where, k.Function) {
				calls[i] += g.Count
			}
		}
	}
	return calls, unseen
}

func stands(where []sample.Location, function string) bool {
	for _, l := range where {
		for _, f := range l.Frames {
			if f.Func == function {
				return true
			}
		}
	}
	return false
}

// judgeFlight reads them from the goroutines of the moment and from the course before
// it; of end, the moment, only the time and the goroutines made count. short says that
// memory was.
func judgeFlight(site *Site, now []sample.GoroutineGroup, course []Stand, end Stand, short bool) flight {
	callers := site.callers()
	calls, running := inFlight(now, callers)
	f := flight{running: running}
	if now == nil {
		if s := lastSeen(site, course, end.At); s != nil {
			calls, running = s.Calls, s.Unseen
			f.running, f.seenAt = running, s.At
		}
	}
	if site.Awaited != nil {
		f.outer = len(callers) - 1
	}
	for i := len(callers) - 1; i > 0 && f.outer == 0; i-- {
		if !comesAndGoes(i, calls[i], running, course) {
			continue
		}
		if isLoop(i, calls[i], running, site, course) || !site.serves() && runsFromStart(i, calls[i]+running, course) {
			f.loop = true
			continue
		}
		f.outer = i
	}
	f.call = judgeCalls(site, course, f.outer, calls[f.outer]+running, short)
	if f.call == always && f.outer == 0 && runsAlong(calls[0], running, site, course) {
		f.call = standing
	}
	if last := len(callers) - 1; f.call == noCall && heldOpen(site, course, last, calls[last]+running, end) {
		f.outer, f.call = last, always
	}
	named := nameOf(callers[:f.outer+1], calls)
	f.name, f.calls, f.held = callers[named].Function, calls[named], callers[named].Under
	return f
}

// heldOpen: the calls that a server makes of its handlers, each in a goroutine of its
// own, were in flight from when little was held to the moment, and none of them took
// another's place, as hardly a goroutine was made since but for more of them. What the calls inside of them
// left behind may be theirs.
func heldOpen(site *Site, course []Stand, caller, now int, end Stand) bool {
	if end.Made == 0 || !slices.ContainsFunc(site.Stack, func(f sample.Frame) bool { return slices.Contains(goroutineEach, f.Func) }) {
		return false
	}
	for _, s := range course {
		if n := s.calls(caller); s.Goroutines && s.Made > 0 && n >= manyCalls && s.Bytes*5 < site.Bytes {
			return now*10 >= n*9 && end.Made-s.Made <= float64(max(0, now-n)+n/10)
		}
	}
	return false
}

// goroutineEach are functions of servers that run in a goroutine made for one request.
var goroutineEach = []string{"google.golang.org/grpc.(*Server).handleStream", "golang.org/x/net/http2.(*serverConn).runHandler"}

// justBefore is how long before the moment, in seconds, goroutines may have been read to
// stand for those of the moment, where none were.
const justBefore = 2

// lastSeen is the last moment at which goroutines were read, if it came just before and
// half of what the line holds was there by then; nil: there is none.
func lastSeen(site *Site, course []Stand, at float64) *Stand {
	for i := len(course) - 1; i >= 0; i-- {
		s := &course[i]
		if !s.Goroutines {
			continue
		}
		if at-s.At > justBefore || s.Bytes*2 < site.Bytes || len(s.Calls) < len(site.callers()) {
			return nil
		}
		return s
	}
	return nil
}

// nameOf picks the innermost caller that four fifths of the calls are inside of,
// one of the program's own if there is one.
func nameOf(callers []Caller, calls []int) int {
	last := len(callers) - 1
	best := last
	for i := last; i >= 0; i-- {
		if calls[i]*5 >= calls[last]*4 && (callers[i].Own || !callers[best].Own) {
			best = i
		}
	}
	return best
}

// comesAndGoes: at some time at most half as many goroutines were inside the
// function as at another, even if all whose stacks were not read were.
func comesAndGoes(caller, now, unseen int, course []Stand) bool {
	low, high := now+unseen, now
	for _, s := range course {
		if s.Goroutines {
			low, high = min(low, s.calls(caller)+s.Unseen), max(high, s.calls(caller))
		}
	}
	return high > 0 && low*2 <= high
}

// isLoop: over the whole rise the same number of goroutines stood inside the
// function, each of which allocated a thousand objects or more, while the calls
// of the line's own function ended again and again: the reader of a connection,
// a worker.
func isLoop(caller, now, unseen int, site *Site, course []Stand) bool {
	seen, ended, n := 0, 0, now
	for _, s := range course {
		if !s.Goroutines || s.Bytes*20 < site.Bytes || s.Unseen > 0 {
			continue
		}
		if seen == 0 {
			n = s.calls(caller)
		}
		if s.calls(caller) != n {
			return false
		}
		seen++
		if s.calls(0) == 0 {
			ended++
		}
	}
	return now <= n && n <= now+unseen && n > 0 && seen >= 5 && ended >= 2 && site.Objects >= 1000*uint64(n)
}

// runsFromStart: one goroutine stood inside the function from the program's start to the
// end, seen at eight moments at least; that it was not there in the first twentieth of
// the time, when the program had hardly begun, does not make it a call that comes and
// goes. now is how many may be inside at the moment.
func runsFromStart(caller, now int, course []Stand) bool {
	seen := 0
	for _, s := range course {
		if !s.Goroutines || s.At < course[len(course)-1].At/20 {
			continue
		}
		if s.calls(caller) > 1 || s.calls(caller)+s.Unseen == 0 {
			return false
		}
		seen += s.calls(caller)
	}
	return seen >= 8 && now > 0
}

// runsAlong: the same goroutines stood inside the function from when next to nothing
// was held to the end, each of which allocated a thousand objects or more there: a
// loop, and no call that comes and goes.
func runsAlong(now, unseen int, site *Site, course []Stand) bool {
	n, seen := 0, 0
	for _, s := range course {
		if !s.Goroutines || n == 0 && s.calls(0) == 0 {
			continue
		}
		if n == 0 {
			if n = s.calls(0); s.Bytes*20 >= site.Bytes {
				return false
			}
		}
		if s.calls(0) > n || s.calls(0)+s.Unseen < n {
			return false
		}
		seen++
	}
	return seen >= 8 && now <= n && n <= now+unseen && site.Objects >= 1000*uint64(n)
}

// call is what is known of how the blamed memory and the calls go together.
type call int

const (
	callsUnknown call = iota // goroutines were not read, or not in time
	noCall                   // the memory stayed while the calls ended
	noCallSeen               // no call was seen, but running goroutines could not be looked into
	standing                 // the function never returns: main.main, or there before the rise
	together                 // calls came with the memory: the more calls, the more bytes
	always                   // calls were in flight all along; that decides nothing
)

// judgeCalls reads the course of the blamed site; now is how many goroutines may
// be inside the caller at the moment. Requests may be larger than those before, and what
// a program fills at its start is no fault where there is room: of both, fewer calls
// that hold more say nothing. Only moments at which a quarter of the final
// bytes was held say anything of who holds them.
func judgeCalls(site *Site, course []Stand, caller, now int, short bool) call {
	if site.Function == "main.main" {
		return standing
	}
	if outlived(site, course, caller) || leftBehind(site, course, caller, now) || short && !site.serves() && fewerHoldMore(site, course, caller, now) {
		return noCall
	}
	seen, hidden, most, mostBytes := 0, 0, 0, sample.Bytes(0)
	for _, s := range course {
		if s.Goroutines && s.Bytes*4 >= site.Bytes {
			seen++
			if s.calls(caller) == 0 {
				hidden++
			}
			if s.calls(caller) > most {
				most, mostBytes = s.calls(caller), s.Bytes
			}
		}
	}
	switch {
	case seen == 0 && now >= 8:
		return always // at the moment, which is all that is known
	case seen == 0:
		return callsUnknown
	case most == 0 || hidden*2 > seen:
		return noCallSeen
	case now*2 > most && calmBefore(course, site.Bytes, most, caller):
		return standing
	case most >= 2 && grewTogether(course, most, mostBytes, caller):
		return together
	}
	return always
}

// outlived: at a moment with a quarter of the final bytes no call was in flight,
// or at most half as many as before, and no less was held; and it stayed.
func outlived(site *Site, course []Stand, caller int) bool {
	var most Stand
	for _, s := range course {
		if !s.Goroutines || s.Bytes*4 < site.Bytes || !stayed(site, s) {
			continue
		}
		if s.Unseen == 0 && s.calls(caller) == 0 {
			return true
		}
		if (s.calls(caller)+s.Unseen)*2 <= most.calls(caller) && s.Bytes >= most.Bytes {
			return true
		}
		if s.calls(caller) > most.calls(caller) {
			most = s
		}
	}
	return false
}

// leftBehind: all that the line ever allocated is held, in equal objects that are far
// more than the calls in flight, and calls were seen to end: at one moment fewer stood
// inside the line's function and inside the caller than at the one before, even if
// all that could not be looked into did. So what they allocated stayed without them.
func leftBehind(site *Site, course []Stand, caller, now int) bool {
	if site.Bytes*50 < (site.Allocated+site.Since)*49 || site.AsLarge < 8*uint64(max(1, now)) || site.Largest*sample.Bytes(site.AsLarge)*4 < site.Bytes*3 {
		return false
	}
	ended := 0
	var before *Stand
	for i := range course {
		s := &course[i]
		if !s.Goroutines {
			continue
		}
		if before != nil && before.Bytes > 0 {
			ended += max(0, min(before.calls(0)-s.calls(0), before.calls(caller)-s.calls(caller))-s.Unseen)
		}
		before = s
	}
	return ended >= 2
}

// fewerHoldMore: as many calls were seen to end as are in flight, what the line holds
// never fell by a tenth, and at most two thirds of the calls of an earlier moment now
// hold a fifth more than those did, which is no error of the sampling. A published
// profile lags, so that what was held then is what was published two collections
// later. Calls come and go, and their memory stays.
func fewerHoldMore(site *Site, course []Stand, caller, now int) bool {
	ended, high := 0, sample.Bytes(0)
	var before, most, held *Stand
	for i := range course {
		s := &course[i]
		if s.Bytes*10 < high*9 {
			return false
		}
		high = max(high, s.Bytes)
		if s.Goroutines {
			if before != nil {
				ended += max(0, before.calls(caller)-s.calls(caller)-s.Unseen)
			}
			if most == nil || s.calls(caller) > most.calls(caller) {
				most, held = s, nil
			}
			before = s
		}
		if most != nil && held == nil && s.Cycle >= most.Cycle+2 {
			held = s
		}
	}
	return held != nil && held.Bytes > 0 && ended >= now && now*3 <= most.calls(caller)*2 &&
		site.Bytes*5 >= held.Bytes*6 && site.Bytes > held.Bytes+4*site.Error
}

// stayed: what was held at an earlier moment is still held at the last. A
// published profile lags, so that memory in it may be dead already: either two
// collections later it was not freed, or nearly all that the line ever allocated
// is held.
func stayed(site *Site, s Stand) bool {
	if site.Cycle >= s.Cycle+2 && site.Freed.Sub(s.Freed) < s.Bytes/2 {
		return true
	}
	return site.Bytes*10 >= (site.Allocated+site.Since)*7
}

// calmBefore: as many calls as later were in flight over a time in which next to
// nothing was held, seen at two moments at least.
func calmBefore(course []Stand, final sample.Bytes, most, caller int) bool {
	n := 0
	for _, s := range course {
		if s.Goroutines && s.Bytes*20 < final && s.calls(caller) >= most {
			n++
		}
	}
	return n >= 2
}

// grewTogether: at some moment at most half the calls held at most half the bytes.
func grewTogether(course []Stand, most int, bytes sample.Bytes, caller int) bool {
	for _, s := range course {
		if s.Goroutines && s.Unseen == 0 && s.calls(caller)*2 <= most && s.Bytes*2 <= bytes {
			return true
		}
	}
	return false
}
