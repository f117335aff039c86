package explain

import (
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/sample"
)

var burstPage = Page{
	Truth: "The live heap is high only while concurrent work, or one huge value, is in flight.",
	Looks: []string{
		"How far the live heap stood above the floor that it kept or came back to before, against the limit less what other processes under it took.",
		"The goroutines that stood inside the line's callers at the moment and at earlier ones: whether the memory came with the calls and went with them.",
		"What of the line's memory was freed earlier, and whether it was allocated for requests that were still being served.",
		"Of what a library's goroutine read from a connection, as gRPC's and HTTP/2's do, the program's calls that it was read for.",
		"Whether nearly all of it is one value that a function such as io.ReadAll was putting together.",
	},
	Blind: []string{
		"The stacks of goroutines that ran at the very moment: then it says \"at least\".",
		"A program killed in its first rise: no return was seen, and the confidence is lower.",
		"Streams that were open for less than a minute: whether their handlers hold what each message left, or something outside of them does.",
	},
	Example: "burst of uploads",
}

// judgeBurst: the live heap is high only while work is in flight. It stands far
// above a floor that it kept or came back to, and calls of the blamed function
// are in flight at the moment.
func judgeBurst(c *Case) Finding {
	if !c.pressed {
		return silent("memory was never short", c.factOutcome())
	}
	if len(c.curve.points) == 0 || c.g == nil {
		return silent("the live heap was not read")
	}
	rise := c.risen()
	if rise < 0.2*float64(c.bound.Sub(c.others())) {
		return silent(fmt.Sprintf("at the %s the live heap stood only %s above its floor", c.momentName(), fsize(rise)), c.factCurve())
	}
	if c.site == nil {
		return undecided(rise, "no heap profile says which line the rise belongs to", c.factCurve())
	}
	f := judgeRise(c)
	f.Bytes = min(max(f.Bytes, sample.Bytes(rise)), c.heap())
	f.Facts = append(f.Facts, c.factCurve(), c.factSite(), c.factCalls())
	return f
}

// risen is how far the live heap stood above its floor at the moment. Where no
// mark was made, what calls in flight may hold of the new memory counts; where the
// first collections went unseen, what work in flight holds is part of no floor.
func (c *Case) risen() float64 {
	high := float64(c.live.bytes)
	if !c.live.exact && c.site != nil && c.flight.calls > 0 {
		high = max(high, min(float64(c.g.HeapLive), float64(c.flight.held+c.site.Since)))
	}
	rise := high - c.curve.floor
	if c.beganUnseen() {
		rise = max(rise, min(high, float64(c.inWork())))
	}
	return rise
}

// inWork is what requests in flight, or values that are being put together, hold.
func (c *Case) inWork() sample.Bytes {
	switch {
	case c.site == nil:
		return 0
	case c.withinRequests():
		return c.flight.held
	case c.wholeValues() > 0:
		return c.site.Bytes
	}
	return 0
}

// beganUnseen: the first collection that was seen was not the program's first, and
// found half of all that was ever live: how the live heap came there is not known.
func (c *Case) beganUnseen() bool {
	return c.curve.first*2 >= c.curve.max && (len(c.Cycles) == 0 || c.Cycles[0].N > 1)
}

// judgeRise tells a burst from a leak. A live heap that came back before needs
// calls in flight now; one that only ever rose needs more: calls that came with
// the memory, or objects of the line that were freed while it rose.
func judgeRise(c *Case) Finding {
	name := ShortFunc(c.flight.name)
	k := c.curve
	returned := len(k.returns) > 0 || k.drop >= 0.5*(k.max-k.floor) // at the moment it may be falling
	switch {
	case c.wholeValues() > 0 && c.filling():
		return wholeFound(c, c.wholeValues())
	case c.flight.calls == 0 && c.flight.running == 0 && c.proc.Goroutines != nil:
		return silent(fmt.Sprintf("no call of %s was in flight", name))
	case !returned && c.flight.call == noCall:
		return silent(fmt.Sprintf("the memory outlived the calls of %s that allocated it", name))
	case !returned && c.flight.call == standing && !c.withinRequests():
		return silent(fmt.Sprintf("%s runs all the time: it is no work that comes and goes", name))
	case c.wholeValues() > 0:
		return wholeFound(c, c.wholeValues())
	case c.flight.calls == 0:
		return undecided(0, fmt.Sprintf("no call of %s was seen in flight, but not every stack could be read", name))
	case returned, c.flight.call == together && !c.pilingUp(), c.flight.call == always && c.freedShare() >= 0.3, c.withinRequests():
		return burstFound(c)
	}
	return undecided(0, fmt.Sprintf("%s of %s %s in flight, and the live heap had not yet come back once", count(c.flight.calls, "call"), name, was(c.flight.calls)))
}

// withinRequests: the memory was allocated under a server's call of its handler,
// and calls of the handler were in flight, or by the reader of a connection for calls
// in flight; none was seen to end and leave it behind.
func (c *Case) withinRequests() bool {
	if c.flight.calls == 0 || c.flight.call == noCall || c.pilingUp() || c.curve.points[len(c.curve.points)-1].at-c.curve.floorEnd > requestsEnd {
		return false
	}
	if c.site.Awaited != nil {
		return c.flight.calls >= manyCalls && (c.flight.call != standing || c.outcome.MomentElapsed < requestsEnd)
	}
	return c.site.serves()
}

// serves: it is allocated under a server's call of its handler.
func (s *Site) serves() bool {
	return slices.ContainsFunc(s.Stack, func(f sample.Frame) bool { return slices.Contains(requestEntries, f.Func) })
}

// manyCalls are calls that a connection's reader serves at once where one speaks of
// many: of fewer each may be a stream that lives as long as the program.
const manyCalls = 8

// requestsEnd is the time, in seconds, after which a call of a handler that still
// runs is taken for a stream and no more for a request.
const requestsEnd = 60

// requestEntries are functions of well-known servers that run for the length of
// one request, or of one connection's requests, and call the handler.
var requestEntries = []string{
	"net/http.serverHandler.ServeHTTP",
	"google.golang.org/grpc.(*Server).handleStream",
	"golang.org/x/net/http2.(*serverConn).runHandler",
	"net/rpc.(*service).call",
}

// pilingUp: hundreds of calls that became more to the end are no burst that one could
// be sure of; they may never end.
func (c *Case) pilingUp() bool {
	if c.flight.calls < 200 {
		return false
	}
	at, n := c.untilMoment(c.Ticks.Goroutines)
	most := 0.0
	for _, n := range n {
		most = max(most, n)
		if n < 0.7*most {
			return false
		}
	}
	return len(n) < 3 || n[nearestTo(at, at[len(at)-1]/2)] < 0.9*n[len(n)-1]
}

func burstFound(c *Case) Finding {
	s := c.site
	f := Finding{Stance: Speaks, Detail: "A burst, not a leak.", Culprit: culprit(s, "allocates")}
	if s.Awaited != nil {
		f.Culprit = &Culprit{Function: s.Awaited.Function, File: s.Awaited.File, Line: s.Awaited.Line, Bytes: s.Bytes, Role: "retains"}
	}
	f.Sentence = burstSentence(c)
	f.Confidence, f.Because = burstConfidence(c)
	f.Why = []Why{{Text: fmt.Sprintf("%s under %s %s", count(c.flight.calls, "goroutine"), ShortFunc(c.flight.name), c.flightSeen("at the "+c.momentName())), Evidence: []string{"calls", "site"}}}
	return f
}

// burstSentence says how many calls held how much. Running goroutines, whose
// stacks were not read, may be calls too: then it says "at least", and nothing
// of a single call.
func burstSentence(c *Case) string {
	s, n := c.site, sample.Bytes(c.flight.calls)
	held := c.flight.held
	if !c.live.exact {
		held += s.Since
	}
	text := fmt.Sprintf("%s of %s%s %s in flight and held %s", count(c.flight.calls, "call"), ShortFunc(c.flight.name), c.in(), was(c.flight.calls), size(held))
	if c.flight.running > 0 {
		text = "At least " + text
	} else if n > 1 {
		each := held / n
		text += fmt.Sprintf(" together, %s each", size(each))
		if left := c.bound.Sub(c.nonHeap() + c.live.bytes.Sub(held)); c.limit > 0 && each > 0 && left/each < n {
			text += fmt.Sprintf("; the limit leaves room for %s", room(int(left/each)))
		}
	}
	if c.flight.name != s.Function && s.Bytes < held {
		text += fmt.Sprintf(", %s of it allocated at %s", size(s.Bytes), place(s.File, s.Line))
	}
	return text + c.untouchedWords(held) + "."
}

// untouchedWords says how much of what calls held has no page behind it, "" if that is
// little. Charged is then what else there was: garbage, where the collector aims at
// twice a live heap of which most is not there.
func (c *Case) untouchedWords(held sample.Bytes) string {
	untouched := min(held, c.untouched())
	switch {
	case untouched <= c.live.bytes/20:
		return ""
	case untouched*2 > held && c.waste()*10 > c.bound*3 && c.g.HeapGoal < unlimited:
		return fmt.Sprintf("; most of it was not touched, so not charged, but the collector aimed at %s for it and let %s of garbage pile up", size(c.g.HeapGoal), size(c.waste()))
	}
	return fmt.Sprintf("; %s of it was not touched yet, so not charged", size(untouched))
}

// room is how many calls fit, in words. It leaves no space for garbage, so that
// it is an upper bound.
func room(n int) string {
	if n == 0 {
		return "less than one"
	}
	return fmt.Sprintf("%d at most", n)
}

func burstConfidence(c *Case) (Confidence, []string) {
	var because []string
	k := c.curve
	if n := len(k.returns); n > 0 {
		low, high := spread(k.returns)
		mid, half := (low+high)/2, (high-low)/2
		because = append(because, fmt.Sprintf("the live heap came back to %s after %s", about(mid, half), earlier(n)))
		if c.live.exact && n >= 2 {
			return High, because
		}
		return Medium, because
	}
	if c.flight.call == together {
		because = append(because, "the memory came with the calls: fewer calls held less")
	}
	if c.withinRequests() {
		text := "it was allocated for requests that were still being served"
		if c.site.Awaited != nil {
			text = fmt.Sprintf("it was read for calls that were still in flight, at %s", place(c.site.Awaited.File, c.site.Awaited.Line))
		}
		because = append(because, text)
	}
	if c.freedShare() >= 0.3 {
		because = append(because, fmt.Sprintf("%.0f%% of what the line allocated was freed again", 100*c.freedShare()))
	}
	if k.drop >= 0.5*(k.max-k.floor) {
		return Medium, append(because, fmt.Sprintf("the live heap had been %s, and was falling again", fsize(k.max)))
	}
	if !c.outcome.Kernel {
		return Medium, append(because, "it was the first rise, so that no return had been seen")
	}
	return Medium, append(because, "it was killed in the first rise, so that no return was seen")
}

// about is an amount with its spread, where that is more than half a MiB.
func about(mid, half float64) string {
	if half < 0.5*float64(sample.MiB) {
		return fsize(mid)
	}
	return fmt.Sprintf("%.0f ± %.0f MiB", mid/float64(sample.MiB), half/float64(sample.MiB))
}

func earlier(n int) string {
	if n == 1 {
		return "an earlier rise"
	}
	return fmt.Sprintf("each of %d earlier rises", n)
}

func spread(v []float64) (low, high float64) {
	low, high = v[0], v[0]
	for _, x := range v {
		low, high = min(low, x), max(high, x)
	}
	return low, high
}
