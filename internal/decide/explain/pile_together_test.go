package explain

import (
	"slices"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A request that hangs has a goroutine of its caller's, two of its connection's and, in a program that calls itself, two of the
// server's: none has half of all, and together they are the pile. The line is that of the goroutines that the program started.
func TestARequestThatHangsIsOnePile(t *testing.T) {
	group := func(count int, creator string, stack ...sample.Frame) sample.GoroutineGroup {
		g := sample.GoroutineGroup{Count: count, State: "waiting", Reason: "select", Oldest: 30 * time.Second,
			CreatedAt: sample.Location{Frames: []sample.Frame{{Func: creator, File: "/go/src/creator.go", Line: 7}}}}
		for _, f := range stack {
			g.Where = append(g.Where, sample.Location{Frames: []sample.Frame{f}})
		}
		return g
	}
	own := sample.Frame{Func: "example.org/shop/relay.(*Client).Post", File: "/build/shop/relay/client.go", Line: 43}
	handler := sample.Frame{Func: "example.org/shop/sandbox.hang", File: "/build/shop/sandbox/sandbox.go", Line: 32}
	std := func(name string, line int) sample.Frame {
		return sample.Frame{Func: name, File: "/go/src/net/http/http.go", Line: line}
	}
	all := []sample.GoroutineGroup{
		group(1000, "net/http.(*Server).Serve", handler, std("net/http.(*conn).serve", 2067)),
		group(1000, "net/http.(*Transport).dialConn", std("net/http.(*persistConn).readLoop", 2330)),
		group(1000, "net/http.(*Transport).dialConn", std("net/http.(*persistConn).writeLoop", 2652)),
		group(990, "example.org/shop/relay.(*Dispatcher).Run", std("net/http.(*persistConn).roundTrip", 2911), own),
		group(1000, "net/http.(*connReader).startBackgroundRead", std("net/http.(*connReader).backgroundRead", 702)),
	}
	p := &pile{}
	p.countWaiting(all, "example.org/shop")
	if p.together != 4990 || p.at.Line != 43 || p.waiting != 990 {
		t.Errorf("%d of them, at %+v with %d", p.together, p.at, p.waiting)
	}
	p = &pile{}
	if p.countWaiting(all[1:3], "example.org/shop"); p.together != 2000 || p.at.Func != "net/http.(*Transport).dialConn" {
		t.Errorf("a connection alone: %d of them, at %+v", p.together, p.at)
	}
	for i := range 20 { // of the dialed ones each waits at another place of theirs
		all = append(all, group(100, "net/http.(*Transport).dialConn", std("net/http.(*persistConn).readLoop", 3000+i)))
	}
	p = &pile{}
	few := append(slices.Clone(all[5:]), group(100, "example.org/shop/relay.(*Dispatcher).Run", own))
	if p.countWaiting(few, "example.org/shop"); p.together != 2000 {
		t.Errorf("a hundred of the program's own next to two thousand: %d, at %+v", p.together, p.at)
	}
	all = all[:5]
	all[3].Count = 300 // these do not hang
	p = &pile{}
	if p.countWaiting(all, "example.org/shop"); p.together != 4000 || p.at.Line == 43 {
		t.Errorf("few callers: %d of them, at %+v", p.together, p.at)
	}
}

// Goroutines that a program ends itself when it winds up have not ended before; where their number falls long before that, they
// do end.
func TestGoroutinesThatEndWithTheProgramDoNotFallBack(t *testing.T) {
	zero := 0
	for end, want := range map[float64]bool{48: false, 80: true} {
		c := &Case{Evidence: newScene().Evidence, outcome: Outcome{State: Exited, ExitCode: &zero, Elapsed: end}}
		c.Moment.At = c.Start.Add(46 * time.Second)
		c.Ticks = Ticks{}
		for i := range 49 {
			n := 160 * float64(i)
			if i == 48 {
				n = 6
			}
			c.Ticks.At, c.Ticks.Goroutines = append(c.Ticks.At, float64(i)), append(c.Ticks.Goroutines, n)
		}
		if least, ok := c.fewestLater(); (ok && least == 6) != want {
			t.Errorf("ended after %v s: at least %v (%v)", end, least, ok)
		}
	}
}
