package explain

import (
	"math"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// callCorrelation is what is known of the calls around a line's memory: how many were in
// flight, and whether the memory came and went with them.
//
// What a function returns outlives its call, yet not the call of whoever asked
// for it: a request's rows are held by the handler long after the line that
// allocated them has returned. So calls are those of the outermost caller that
// comes and goes.
type callCorrelation struct {
	name    string       // the function to name: the innermost caller that most of the calls are inside of
	calls   int          // goroutines inside it at the moment
	running int          // goroutines whose stacks were not read
	held    sample.Bytes // allocated under it and held
	outer   int          // index of the outermost caller that comes and goes
	seenAt  float64      // seconds since the start: when that was, 0 for the moment

	read        bool     // goroutines were read, at the moment or just before it
	standing    bool     // the same calls were in flight from before the rise to the end: a loop, and no call that ends
	even        bool     // no more calls were later than at first, when hardly anything was there
	left        float64  // part of the memory that calls were seen to leave behind, of what is held now; NaN: not known
	gather      float64  // seconds until the moment in which one call after the other began, and none was seen to end
	correlation float64  // correlation of bytes held with calls in flight; NaN: not known
	one         *oneCall // the call in which the memory came; nil: several did it, or it began with the run
}

// inFlight counts the goroutines that are inside each of the functions, and
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

// stands reports whether a function is on a stack.
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

// callsAround reads the calls around a line from the goroutines of the moment, nil where
// they were not read, and from the course before it; at is the moment.
func callsAround(site *Site, now []sample.GoroutineGroup, at float64) callCorrelation {
	callers := site.callers()
	calls, running := inFlight(now, callers)
	f := callCorrelation{running: running, read: now != nil}
	if now == nil {
		if s := lastSeen(site, at); s != nil {
			calls, f.running, f.seenAt, f.read = s.Calls, s.Unseen, s.At, true
		}
	}
	f.outer = outermost(site, calls)
	if f.one = oneCallOf(site, calls, f.running, at); f.one != nil && f.one.ended > 0 {
		f.outer = f.one.caller
	}
	if site.Awaited != nil {
		f.outer = len(callers) - 1
	}
	named := nameOf(callers[:f.outer+1], calls)
	f.name, f.calls, f.held = callers[named].Function, calls[named], callers[named].Under
	f.standing = site.Awaited == nil && standing(site, f.outer, calls[f.outer], f.running)
	f.even = noMore(site, f.outer, calls[f.outer]+f.running)
	f.left = math.NaN()
	if site.Own { // else nobody knows for whose call a library allocated it
		f.left = leftByCalls(site, f.outer, calls[f.outer], f.running)
	}
	f.correlation = followsOf(site, f.outer, calls[f.outer])
	f.gather = gatherOf(site, f.outer, calls[f.outer], running, at)
	return f
}

// justBefore is how long before the moment, in seconds, goroutines may have been read to
// stand for those of the moment, where none were.
const justBefore = 2

// lastSeen is the last moment at which goroutines were read, if it came just before;
// nil: there is none.
func lastSeen(site *Site, at float64) *SiteSnapshot {
	for i := len(site.Course) - 1; i >= 0; i-- {
		if s := &site.Course[i]; s.Goroutines {
			if at-s.At > justBefore || len(s.Calls) < len(site.callers()) {
				return nil
			}
			return s
		}
	}
	return nil
}

// outermost is the index of the outermost caller that comes and goes, 0 where none
// does: the line's own function.
func outermost(site *Site, now []int) int {
	for i := len(now) - 1; i > 0; i-- {
		if comesAndGoes(site.Course, i, now[i]) {
			return i
		}
	}
	return 0
}

// comesAndGoes reports whether calls of a caller were seen to begin or to end after
// the first look: more are in flight at one time than at another. A call that began
// once and stayed is none: it is a loop, or the run itself.
func comesAndGoes(course []SiteSnapshot, caller, now int) bool {
	least, bound, changes, most := -1, 0, 0, now // a goroutine that ran may have been in a call, or not
	for _, s := range course {
		if !s.Goroutines {
			continue
		}
		n := s.calls(caller)
		most = max(most, n)
		if least >= 0 && (n+s.Unseen < least || n > bound) {
			changes++
		}
		least, bound = n, n+s.Unseen
	}
	if least >= 0 && now > bound {
		changes++
	}
	return changes > 1 || changes == 1 && most > 1
}

// nameOf picks the innermost caller that nearly all of the calls are inside of, one of
// the program's own if there is one.
func nameOf(callers []Caller, calls []int) int {
	last := len(callers) - 1
	best := last
	for i := last; i >= 0; i-- {
		if float64(calls[i]) >= 0.8*float64(calls[last]) && (callers[i].Own || !callers[best].Own) {
			best = i
		}
	}
	if !callers[best].Own { // connections that wait for a request are calls, too: it is those of the program that hold the memory
		for i := last; i >= 0; i-- {
			if callers[i].Own && calls[i] > 1 && float64(callers[i].Under) >= (1-blamedPart.v())*float64(callers[last].Under) {
				return i
			}
		}
	}
	return best
}

// leftByCalls is how much of what is held calls were seen to leave behind: what the
// line held while at most half as many calls were in flight as at another time,
// and was not freed afterwards. A goroutine that ran may have been in a call, or not. NaN: no call was
// seen to end.
func leftByCalls(site *Site, caller, now, running int) float64 {
	if site.Bytes == 0 {
		return math.NaN()
	}
	left, most, bare := math.NaN(), mostCalls(site, caller, now), 0
	for _, s := range site.Course {
		if !s.Goroutines {
			continue
		}
		n := s.calls(caller) + s.Unseen
		if n == 0 {
			bare++
		}
		if n > 0 && float64(n) > fewerCalls.v()*float64(most) {
			continue
		}
		part := float64(s.leftBy(site, n)) / float64(site.Bytes)
		if (most == 0 || n < most) && s.isJudged(site) {
			left = maxKnown(left, min(1, part))
		}
	}
	if ended := endedCalls(site, caller); ended > 0 && site.keptAll() {
		left = maxKnown(left, float64(ended)/float64(ended+max(1, now+running)))
	}
	if most == 0 && bare < int(fewestReadings.v()) {
		return math.NaN() // calls are too short to be seen, and so are the looks too few
	}
	return left
}

// gatherOf is for how long before the moment calls only became more, one after the other, where that is nearly the
// whole run: none was seen to end, and they began at no fewer than three times. A goroutine that ran may have been in a call.
func gatherOf(site *Site, caller, now, running int, at float64) float64 {
	n, began, since := now, 0, at
	bound := now + running
	for i := len(site.Course) - 1; i >= 0; i-- {
		s := &site.Course[i]
		if !s.Goroutines {
			continue
		}
		c := s.calls(caller)
		if c > bound || c == 0 {
			break
		}
		if freed := float64(s.Freed); freed >= leastGrown.v() && freed > freedByCalls.v()*float64(s.Bytes) {
			return 0 // that many calls ended between the looks
		}
		if c < n {
			began++
			n = c
		}
		bound, since = c+s.Unseen, s.At
		if s.Unseen == 0 {
			n = c
		}
	}
	if began < int(fewestReadings.v()) || at-since < stillRunning.v()*at {
		return 0
	}
	return at - since
}

// endLater reports whether half of the calls in flight or more ended after the moment, by the number of goroutines: a job that starts one for each of
// its items begins call after call until its peak, and ends them all.
func (c *Case) endLater() bool {
	later, seen := c.fewestLater()
	return seen && c.g != nil && c.inFlight.calls > 1 && later <= float64(c.g.Goroutines)-float64(c.inFlight.calls)/2
}

// finish reports whether the numbers of goroutines tell that calls in flight end, more and more of them though there are: most of those
// that waited earlier where most of the calls wait now have left that place.
func (c *Case) finish() bool {
	if c.inFlight.gather == 0 || c.inFlight.calls < int(manyCalls.v()) {
		return false
	}
	p, reason := c.risenGoroutines()
	if reason != "" {
		return false
	}
	c.waiters(&p)
	p.left, p.followed = c.whoLeft(&p)
	return p.finish() && p.waiting*2 >= c.inFlight.calls
}

// leftBehind is the part of the memory that calls were seen to leave behind. NaN: what came and went was left by nobody, or
// it is not known. What calls in flight have now, or a pool, those that ended did not leave for good, unless they wait:
// whether such calls end was not seen.
func (c *Case) leftBehind(f *callCorrelation) float64 {
	passing := c.kept.pooled
	if !c.site.Parked {
		passing += c.kept.frames
	}
	if c.cameAndWent() && c.freedShare() >= freedMuch.v() || passing >= heldByRoot.v() {
		return math.NaN()
	}
	return f.left
}

// keptAll reports whether hardly anything of what was ever allocated at the line is gone: by a mark, or
// by what collections freed.
func (s *Site) keptAll() bool {
	all := float64(s.Allocated + s.Since)
	return all > 0 && float64(s.Bytes) >= (1-freedLittle.v())*all && float64(s.Freed) <= freedLittle.v()*float64(s.Allocated)
}

// endedCalls is how many calls were seen to end.
func endedCalls(site *Site, caller int) (ended int) {
	var before *SiteSnapshot
	for i := range site.Course {
		s := &site.Course[i]
		if !s.Goroutines {
			continue
		}
		if before != nil && before.Bytes > 0 && s.isJudged(site) {
			ended += max(0, min(before.calls(0)-s.calls(0), before.calls(caller)-s.calls(caller))-s.Unseen)
		}
		before = s
	}
	return ended
}

// isJudged reports whether a collection began after the look, and what the line holds is of it or of a later one: else
// what calls had that had ended by then may be garbage. The profile that tells of a collection is published by the next.
func (s *SiteSnapshot) isJudged(site *Site) bool { return site.Marked || site.Cycle >= s.Cycle+2 }

// survived is what of the line's memory at an earlier moment is certainly still held:
// what was in use then, less all that was freed since. A published profile lags, so
// that it is nothing where the last profile is none of a later collection.
func (s *SiteSnapshot) survived(site *Site) sample.Bytes {
	if site.Cycle > s.Cycle {
		if lower := s.Bytes.Sub(site.Freed.Sub(s.Freed)); lower > 0 {
			return min(lower, site.Bytes)
		}
	}
	if s.Allocated > 0 { // what is held and was not allocated since
		return min(site.Bytes.Sub((site.Allocated + site.Since).Sub(s.Allocated)), s.Bytes)
	}
	if (site.Allocated+site.Since)*7 <= site.Bytes*10 { // hardly anything was ever freed
		return min(s.Bytes, site.Bytes)
	}
	return 0
}

// leftBy is how much of the line's memory n calls, which were seen in flight then, cannot hold.
func (s *SiteSnapshot) leftBy(site *Site, n int) sample.Bytes {
	if n > 0 {
		return s.survived(site)
	}
	return max(s.survived(site), s.outlasted(site))
}

// outlasted is what the line holds and had allocated by then, at least: all but what was allocated since.
// Where nobody was inside its calls then, it is what ended calls left, published or not.
func (s *SiteSnapshot) outlasted(site *Site) sample.Bytes {
	if s.Allocated == 0 {
		return 0
	}
	return min(site.Bytes, site.Bytes.Sub((site.Allocated + site.Since).Sub(s.Allocated)))
}

// followsOf is the correlation of what the line held with its calls in flight, over
// the looks and the moment; NaN where they are fewer than four, do not change, or saw calls only once. What a
// published profile says lags: it is compared with the calls of two collections before.
func followsOf(site *Site, caller, now int) float64 {
	var calls, bytes []float64
	for i, s := range site.Course {
		if !s.Goroutines || s.Unseen > 0 {
			continue
		}
		at := i
		for at < len(site.Course)-1 && site.Course[at].Cycle < s.Cycle+2 {
			at++
		}
		calls, bytes = append(calls, float64(s.calls(caller))), append(bytes, float64(site.Course[at].Bytes))
	}
	calls, bytes = append(calls, float64(now)), append(bytes, float64(site.Bytes))
	with := 0 // looks that saw calls: of a single one any line goes through
	for _, n := range calls {
		if n > 0 {
			with++
		}
	}
	if len(calls) < 4 || with < 2 {
		return math.NaN()
	}
	return correlation(calls, bytes)
}

func maxKnown(a, b float64) float64 {
	if math.IsNaN(a) {
		return b
	}
	return max(a, b)
}

// serves reports whether the line allocates under a server's call of its handler.
func (s *Site) serves() bool {
	return slices.ContainsFunc(s.Stack, func(f sample.Frame) bool { return slices.Contains(requestEntries, f.Func) })
}

// requestEntries are functions of well-known servers that run for the length of
// one request, or of one connection's requests, and call the handler.
var requestEntries = []string{
	"net/http.serverHandler.ServeHTTP",
	"google.golang.org/grpc.(*Server).handleStream",
	"golang.org/x/net/http2.(*serverConn).runHandler",
	"net/rpc.(*service).call",
}
