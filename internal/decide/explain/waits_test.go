package explain

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Goroutines that wait for a processor since they were made are at the first line of their function, which nobody can mend: their go
// statement is what there is to name.
func TestGoroutinesThatHaveNotBegunAreNamedByTheirGoStatement(t *testing.T) {
	starter := sample.Frame{Func: "example.org/shop/push.Start", File: "/build/shop/push/push.go", Line: 5}
	first := sample.Frame{Func: "example.org/shop/push.watch", File: "/build/shop/push/push.go", Line: 12}
	group := func(state string, frame sample.Bytes, stack ...string) sample.GoroutineGroup {
		g := sample.GoroutineGroup{State: state, Count: 9000, CreatedAt: sample.Location{Frames: []sample.Frame{starter}}, Frames: []sample.Bytes{frame},
			Stack: []uint64{1}, Where: []sample.Location{{Frames: []sample.Frame{first}}}}
		for i, name := range stack {
			g.Stack, g.Frames = append(g.Stack, uint64(i)+2), append(g.Frames, 8)
			g.Where = append(g.Where, sample.Location{Frames: []sample.Frame{{Func: name}}})
		}
		return g
	}
	for name, c := range map[string]struct {
		groups []sample.GoroutineGroup
		named  sample.Frame
		words  string
	}{
		"none has begun": {[]sample.GoroutineGroup{group("runnable", 8, "runtime.goexit")}, starter, "not begun yet"},
		"some wait": {[]sample.GoroutineGroup{group("runnable", 8, "runtime.goexit"), group("waiting", 8, "runtime.goexit")}, first,
			"waiting; 9,000 have not begun to run"},
		"all have a frame":  {[]sample.GoroutineGroup{group("runnable", 64, "runtime.goexit")}, first, "waiting"},
		"called by another": {[]sample.GoroutineGroup{group("runnable", 8, "example.org/shop/push.run", "runtime.goexit")}, first, "waiting"},
	} {
		var p pile
		(&Case{Evidence: &Evidence{}, proc: &sample.ProcessMoment{Goroutines: c.groups}}).waiters(&p)
		if p.waiting != 9000*len(c.groups) || p.named() != c.named || p.made != starter || p.reasonWords() != c.words {
			t.Errorf("%s: %+v, %+v, %s", name, p, p.named(), p.reasonWords())
		}
	}
}

// Goroutines whose stacks retain what calls left behind are a pile after seconds, also where they wait for input: it is theirs for as
// long as they wait. Where no capture says who retains it, that is too short to tell.
func TestWhatWaitingGoroutinesRetainIsAPileAfterSeconds(t *testing.T) {
	for retained, want := range map[bool]Stance{true: Speaks, false: Open} {
		s := newScene()
		s.over(4*time.Second, 40)
		s.heap(210, 210, 230)
		s.killed()
		s.cycles(20, 11, 50, 90, 130, 170, 210)
		s.goroutines(1, 430)
		s.site("example.org/shop/peer.newBuffer", "/build/shop/peer/peer.go", 30, 195, 0)
		s.waiting("example.org/shop/peer.(*Peer).read", "/build/shop/peer/peer.go", 125, 430, "IO wait", 0)
		for i, held := range []float64{5, 60, 110, 170} {
			s.stand(float64(i), held, i%2, 0)
		}
		if retained {
			s.retained("io.ReadAtLeast")
			s.Heap.Paths[1].Owner = &sample.HeapOwner{Name: "the stacks of io.ReadAtLeast", Kind: "goroutine", Count: 430}
		}
		f := judgeGoroutines(newCase(s.Evidence))
		if f.Stance != want || want == Speaks && f.Confidence != Low {
			t.Errorf("retained by stacks: %v: %v, %s: %s%s", retained, f.Stance, f.Confidence, f.Sentence, f.Reason)
		}
	}
}

// A line that makes what passes through as well as what stays is a leak where a long-lived variable retains the rest.
func TestALineOfWhichMostPassesThroughLeaksWhatAVariableRetains(t *testing.T) {
	for retained, want := range map[bool]bool{true: true, false: false} {
		s := newScene()
		s.heap(160, 160, 200)
		s.charge()
		s.work(0.2, 0.05, 60)
		s.cycles(400, 20, 32, 45, 58, 70, 83, 96, 108, 121, 134, 147, 160)
		s.site("example.org/shop/packet.Read", "/build/shop/packet/packet.go", 55, 140, 0.85)
		if retained {
			s.retained("")
		}
		c := newCase(s.Evidence)
		if got := c.passing() == 0; got != want {
			t.Errorf("retained: %v: passing %g, lasting %g", retained, c.passing(), c.kept.lasting)
		}
	}
}

// Of two places at which as many goroutines wait, as at the two ends of connections of a program that calls itself, the one is named
// whose goroutines are inside the call that allocated what is live.
func TestOfTwoPlacesTheOneThatHoldsTheMemoryIsNamed(t *testing.T) {
	const device, next = "example.org/shop/fleet.device", "example.org/shop/wire.(*Reader).Next"
	for inside, want := range map[string]string{"": device, next: next} {
		s := newScene()
		s.heap(120, 120, 140)
		s.waiting(device, "/build/shop/fleet/fleet.go", 35, 134, "select", 20)
		s.waiting(next, "/build/shop/wire/wire.go", 42, 134, "IO wait", 20)
		site := s.site(next, "/build/shop/wire/wire.go", 50, 110, 0)
		if inside == "" {
			site.Function = "example.org/shop/store.Put"
		}
		var p pile
		if newCase(s.Evidence).waiters(&p); p.at.Func != want || p.waiting != 134 {
			t.Errorf("%d wait in %s, want %s", p.waiting, p.at.Func, want)
		}
	}
}
