package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Where symbols of C are not there, a thread that Go made has no name. Each goroutine in a call has one, and what is left was made by C.
func TestThreadsOfCallsAreNoThreadsOfC(t *testing.T) {
	for inCalls, ofC := range map[int]int{0: 650, 640: 10} {
		c := newCase(threadsInCalls(inCalls).Evidence)
		if _, n := c.ownThreads(); n != ofC {
			t.Errorf("%d goroutines in calls: %d threads of C, want %d", inCalls, n, ofC)
		}
	}
	s := threadsInCalls(640)
	s.p.ThreadStarts[0].Func = "poolWorker"
	if _, n := newCase(s.Evidence).ownThreads(); n != 650 {
		t.Errorf("%d threads of C, of 650 that run a function of it", n)
	}
}

// Goroutines in a call of C wait at the program's line, not at the wrapper that cgo wrote, and no context ends them.
func TestGoroutinesInCallsOfCWaitAtTheLineThatCalls(t *testing.T) {
	a := answerOf(t, threadsInCalls(640))
	for _, want := range []string{"dev/dev.go:66 (a call of C), started at dev/dev.go:80"} {
		if a.Verdict.Class != Goroutines || !strings.Contains(a.Verdict.Sentence, want) {
			t.Errorf("%s: %s\nwant %q", a.Verdict.Class, a.Verdict.Sentence, want)
		}
	}
	if len(a.Fixes) == 0 || !strings.Contains(a.Fixes[0].Text, "dev.go:66: make the calls of C return") {
		t.Errorf("%+v", a.Fixes)
	}
}

// threadsInCalls is a program with 650 threads whose functions have no names, and so many goroutines in a call of C.
func threadsInCalls(n int) *scene {
	s := workScenes["thousands of goroutines that never end"]()
	s.p.Residency.GoStacks = 4 * mib
	s.charge()
	s.p.Resident = &sample.Resident{Threads: 655}
	s.p.ThreadStarts = []sample.ThreadStart{{Count: 650}}
	s.goroutines(12, 300, 660)
	made := at("example.org/shop/dev.(*Device).Read", "/build/shop/dev/dev.go", 80)
	s.p.Goroutines = []sample.GoroutineGroup{{State: "syscall", Count: n, CreatedAt: made, Where: []sample.Location{
		at("runtime.cgocall", "runtime/cgocall.go", 167), at("example.org/shop/dev._Cfunc_dev_read", "_cgo_gotypes.go", 54),
		at("example.org/shop/dev.(*Device).readFrame", "/build/shop/dev/dev.go", 66)}}}
	return s
}

func at(function, file string, line int) sample.Location {
	return sample.Location{Frames: []sample.Frame{{Func: function, File: file, Line: line}}}
}
