package explain

import (
	"slices"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// reader is a goroutine of a library that reads a connection for many calls: what it
// allocates waits in buffers until one of them asks for it, or ends.
type reader struct {
	runs  []string // functions that the goroutine runs
	calls []string // functions that a call it reads for is inside of
}

// readers are those of well-known libraries.
var readers = []reader{
	{[]string{"google.golang.org/grpc/internal/transport.(*http2Client).reader"},
		[]string{"google.golang.org/grpc.(*clientStream).RecvMsg", "google.golang.org/grpc.(*clientStream).SendMsg", "google.golang.org/grpc.(*ClientConn).Invoke"}},
	{[]string{"google.golang.org/grpc/internal/transport.(*http2Server).HandleStreams"},
		[]string{"google.golang.org/grpc.(*Server).handleStream"}},
	{[]string{"net/http.(*http2clientConnReadLoop).run", "golang.org/x/net/http2.(*clientConnReadLoop).run"},
		[]string{"net/http.http2transportResponseBody.Read", "golang.org/x/net/http2.transportResponseBody.Read"}},
	{[]string{"net/http.(*http2serverConn).serve", "golang.org/x/net/http2.(*serverConn).serve"},
		[]string{"net/http.(*http2serverConn).runHandler", "golang.org/x/net/http2.(*serverConn).runHandler"}},
}

// Awaited is, of a line in a reader's goroutine, where the program began the calls that
// it reads for.
type Awaited struct {
	sample.Place
}

// awaitedBy finds the calls that a line's memory waits for, in the largest group of
// goroutines inside a library's call: the program's function that was begun and the
// one that began it, as further callers of the line. at is nil where the line is in no
// reader's goroutine, or no call of the program was seen.
func awaitedBy(s sample.Site, groups []sample.GoroutineGroup, module string) (callers []Caller, at *Awaited) {
	i := slices.IndexFunc(readers, func(r reader) bool { return standsInAny(s.Stack, r.runs) })
	if i < 0 {
		return nil, nil
	}
	var own []sample.Frame
	most := 0
	for _, g := range groups {
		if g.Count <= most || !standsInAny(g.Where, readers[i].calls) {
			continue
		}
		if frames := ownOf(g.Where, module); len(frames) > 0 {
			own, most = frames, g.Count
		}
	}
	for _, f := range own[max(0, len(own)-2):] {
		callers = append(callers, Caller{Function: f.Func, Own: true})
		at = &Awaited{f.Place()}
	}
	return callers, at
}

func standsInAny(where []sample.Location, functions []string) bool {
	return slices.ContainsFunc(functions, func(f string) bool { return stands(where, f) })
}

// ownOf are the frames of the program's own functions but main.main, each once.
func ownOf(where []sample.Location, module string) (own []sample.Frame) {
	for _, l := range where {
		for _, f := range l.Frames {
			known := slices.ContainsFunc(own, func(o sample.Frame) bool { return o.Func == f.Func })
			if f.Func != "main.main" && !known && heapdiff.OwnerOf(f.Func, module) == heapdiff.Own {
				own = append(own, f)
			}
		}
	}
	return own
}
