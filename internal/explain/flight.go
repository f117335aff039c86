package explain

import "github.com/highwater-go/highwater/internal/sample"

// inFlight counts the goroutines that stand inside a function, and those that
// ran at that instant, whose stacks cannot be read.
func inFlight(groups []sample.GoroutineGroup, function string) (n, unseen int) {
	for _, g := range groups {
		switch {
		case len(g.Stack) == 0 && len(g.Where) == 0:
			if g.State == "running" {
				unseen += g.Count
			}
		case stands(g.Where, function):
			n += g.Count
		}
	}
	return n, unseen
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

// call is what is known of how the blamed memory and the calls of its function
// go together.
type call int

const (
	callsUnknown call = iota // goroutines were not read, or not in time
	noCall                   // the memory stayed while the calls of its function ended
	noCallSeen               // no call was seen, but running goroutines could not be looked into
	standing                 // the function never returns: main.main, or there before the rise
	together                 // calls came with the memory: the more calls, the more bytes
	always                   // calls were in flight all along; that decides nothing
)

// judgeCalls reads the course of the blamed site. Only moments at which a
// quarter of the final bytes was held say anything of who holds them.
func judgeCalls(site *Site, course []Stand) call {
	if site.Function == "main.main" {
		return standing
	}
	if outlived(site, course) {
		return noCall
	}
	seen, hidden, most, mostBytes := 0, 0, 0, sample.Bytes(0)
	for _, s := range course {
		if s.Goroutines && s.Bytes*4 >= site.Bytes {
			seen++
			if s.InFlight == 0 {
				hidden++
			}
			if s.InFlight > most {
				most, mostBytes = s.InFlight, s.Bytes
			}
		}
	}
	switch {
	case seen == 0:
		return callsUnknown
	case most == 0 || hidden*2 > seen:
		return noCallSeen
	case calmBefore(course, site.Bytes, most):
		return standing
	case most >= 2 && grewTogether(course, most, mostBytes):
		return together
	}
	return always
}

// outlived: at a moment with a quarter of the final bytes no call was in flight,
// or at most half as many as before, and no less was held; and it stayed.
func outlived(site *Site, course []Stand) bool {
	var most Stand
	for _, s := range course {
		if !s.Goroutines || s.Bytes*4 < site.Bytes || !stayed(site, s) {
			continue
		}
		if s.Unseen == 0 && s.InFlight == 0 {
			return true
		}
		if (s.InFlight+s.Unseen)*2 <= most.InFlight && s.Bytes >= most.Bytes {
			return true
		}
		if s.InFlight > most.InFlight {
			most = s
		}
	}
	return false
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
func calmBefore(course []Stand, final sample.Bytes, most int) bool {
	n := 0
	for _, s := range course {
		if s.Goroutines && s.Bytes*20 < final && s.InFlight >= most {
			n++
		}
	}
	return n >= 2
}

// grewTogether: at some moment at most half the calls held at most half the bytes.
func grewTogether(course []Stand, most int, bytes sample.Bytes) bool {
	for _, s := range course {
		if s.Goroutines && s.Unseen == 0 && s.InFlight*2 <= most && s.Bytes*2 <= bytes {
			return true
		}
	}
	return false
}
