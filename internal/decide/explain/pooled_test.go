package explain

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// What lies in a sync.Pool is kept until GC has run twice, whoever has the pool: a variable, a library's table of pools.
func TestAPoolKeepsUntilGCEmptiesIt(t *testing.T) {
	for label, want := range map[string]tenure{
		".local[].poolLocalInternal.shared.head.poolDequeue.vals[].val": pools,
		".victim[].poolLocalInternal.private":                           pools,
		".pools[].pool.local[].poolLocalInternal.private":               pools,
		".entries[]": lasts,
	} {
		s := newScene()
		s.captured(100,
			sample.HeapPath{Parent: -1, Label: "shop.buffers", Root: &sample.HeapRoot{Kind: sample.RootGlobal}, Objects: 1, Retained: 100 * mib},
			sample.HeapPath{Parent: 0, Label: label, Objects: 64, Retained: 99 * mib, Holder: true})
		c := &Case{Evidence: s.Evidence, outcome: Outcome{MomentElapsed: 10}}
		if got := c.tenureOf(1); got != want {
			t.Errorf("%s: %d, want %d", label, got, want)
		}
	}
}

// A router keeps the contexts of its requests in a pool, and each leads back to all that the handlers keep: what is
// reachable from elsewhere, too, is not the pool's.
func TestWhatIsNotThePoolsAloneIsKeptByOthers(t *testing.T) {
	s := newScene()
	s.captured(100,
		sample.HeapPath{Parent: -1, Label: "several places: sync.Pool.local[].poolLocalInternal.private.Routes.handler", Objects: 1, Retained: 100 * mib},
		sample.HeapPath{Parent: 0, Label: " (captured).entries[]", Objects: 64, Retained: 99 * mib, Holder: true})
	c := &Case{Evidence: s.Evidence, outcome: Outcome{MomentElapsed: 10}}
	if got := c.tenureOf(1); got != lasts {
		t.Errorf("tenure %d", got)
	}
}

// Of memory that a pool has the calls that allocated it left nothing behind: others take it again.
func TestWhatAPoolHasIsNotLeftBehind(t *testing.T) {
	c := &Case{Evidence: newScene().Evidence, site: &Site{}}
	f := callCorrelation{left: 0.9}
	for _, k := range []struct {
		kept keepers
		want bool
	}{{keepers{lasting: 1}, true}, {keepers{pooled: 0.8, lasting: 0.2}, false}, {keepers{frames: 0.9, lasting: 0.1}, false}} {
		if c.kept = k.kept; (c.leftBehind(&f) >= leftBehind.v()) != k.want {
			t.Errorf("%+v: left behind is %v", k.kept, c.leftBehind(&f))
		}
	}
}

// A task that is a goroutine of its own is a call, and its first function the one to name.
func TestTheFirstFunctionOfATasksGoroutineIsACall(t *testing.T) {
	stack := func(functions ...string) (s sample.Site) {
		for _, name := range functions {
			s.Stack = append(s.Stack, sample.Location{Frames: []sample.Frame{{Func: name}}})
		}
		return s
	}
	const module = "example.org/shop"
	own := callersOf(stack("main.decode", "main.resize.func1", "runtime.goexit"), "main.decode", module)
	if len(own) != 2 || own[1].Function != "main.resize.func1" {
		t.Errorf("of the program's own goroutine: %+v", own)
	}
	foreign := callersOf(stack("main.decode", "example.net/pool.(*Pool).worker", "runtime.goexit"), "main.decode", module)
	if len(foreign) != 1 {
		t.Errorf("of a library's goroutine: %+v", foreign)
	}
}

// Tasks that wait for something are told as the pile that they are.
func TestAGoroutineThatWaitsIsNoCallAtWork(t *testing.T) {
	group := func(state string, n int) sample.GoroutineGroup {
		return sample.GoroutineGroup{State: state, Count: n, Where: []sample.Location{{Frames: []sample.Frame{{Func: "main.read.func1"}}}}}
	}
	other := sample.GoroutineGroup{State: "waiting", Count: 100, Where: []sample.Location{{Frames: []sample.Frame{{Func: "main.poll"}}}}}
	for _, c := range []struct {
		running, waiting int
		want             bool
	}{{90, 10, false}, {50, 50, false}, {10, 90, true}, {0, 0, false}} {
		if got := mostWait("main.read.func1", []sample.GoroutineGroup{group("runnable", c.running), group("waiting", c.waiting), other}); got != c.want {
			t.Errorf("%d run and %d wait: %v", c.running, c.waiting, got)
		}
	}
}
