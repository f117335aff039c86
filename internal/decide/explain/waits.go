package explain

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// waitsAt is the line of the program's own code, or of a dependency's, that a
// goroutine waits at; else the go statement that made it.
func waitsAt(g sample.GoroutineGroup, module string) sample.Frame {
	if at, ok := callerOfC(g.Where, module); ok { // and not the wrapper that cgo wrote, which is in a file of no source
		return lineOf(at)
	}
	b := heapdiff.Blame(sample.Site{Stack: g.Where}, module)
	if b.Owner == heapdiff.Own || b.Owner == heapdiff.Dependency {
		return lineOf(b.Frame)
	}
	if made := frameOf(g.CreatedAt); made.Func != "" && heapdiff.OwnerOf(made.Func, module) != heapdiff.Runtime {
		return made
	}
	return lineOf(b.Frame)
}

// notBegun reports whether goroutines wait for a processor at the entry of their first function: its frame is
// the return address to runtime.goexit alone (newproc1 in runtime/proc.go).
func notBegun(g sample.GoroutineGroup) bool {
	const address = 8
	return g.State == "runnable" && len(g.Stack) == 2 && len(g.Frames) == 2 && g.Frames[0] <= address
}

func frameOf(l sample.Location) sample.Frame {
	if len(l.Frames) == 0 {
		return sample.Frame{}
	}
	return lineOf(l.Frames[0])
}

func lineOf(f sample.Frame) sample.Frame {
	return sample.Frame{Func: f.Func, File: f.File, Line: f.Line}
}

// named is the line to name: the one where most wait, or where none has begun to run, the go statement.
func (p *pile) named() sample.Frame {
	if p.unbegun >= p.waiting && p.made.Func != "" {
		return p.made
	}
	return p.at
}

// where is the file and the line of that.
func (p *pile) where() string { return place(p.named().File, p.named().Line) }

// reasonWords say why they wait, and how many have not begun to run.
func (p *pile) reasonWords() string {
	reason := strings.TrimSpace(p.reason)
	switch {
	case p.unbegun > 0 && p.unbegun >= p.waiting:
		return "not begun yet"
	case reason == "" && p.inC:
		reason = "a call of C"
	case reason == "":
		reason = "waiting"
	}
	if p.unbegun*10 >= p.waiting && p.unbegun > 0 {
		reason += fmt.Sprintf("; %s have not begun to run", thousands(float64(p.unbegun)))
	}
	return reason
}

// keptByWaiters reports whether the stacks of goroutines retain what calls have left behind that returned: it stays for as long as
// those goroutines wait, whether that is for input or for what never comes.
func (c *Case) keptByWaiters() bool {
	return c.site != nil && c.retainerOf(c.site).isCalls() && c.inFlight.left >= leftBehind.v()
}

// preferHolders names, of places at which about as many wait, the one whose goroutines are inside the call that allocated most of the
// live heap: a connection has two ends in a program that calls itself, and a reader and a writer at each.
func (c *Case) preferHolders(p *pile) {
	if c.site == nil || c.live.bytes == 0 || float64(c.site.Bytes) < heldByRoot.v()*float64(c.live.bytes) {
		return
	}
	count, at := map[string]int{}, map[string]sample.Frame{}
	for _, g := range c.proc.Goroutines {
		if to := waitsAt(g, c.module()); to.Func != "" && g.State != "running" && stands(g.Where, c.site.Function) {
			count[to.Func], at[to.Func] = count[to.Func]+g.Count, to
		}
	}
	if count[p.at.Func] > 0 {
		return
	}
	best := ""
	for name, n := range count {
		if float64(n) >= asMany.v()*float64(p.waiting) && (n > count[best] || n == count[best] && name < best) {
			best = name
		}
	}
	if best != "" {
		p.at, p.waiting = at[best], count[best]
	}
}
