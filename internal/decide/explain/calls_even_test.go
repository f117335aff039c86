package explain

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// connections is a program that was killed while some connections, as many as at first, each had more and more.
func connections() *scene {
	s := newScene()
	s.heap(190, 190, 240)
	s.killed()
	s.cycles(30, 10, 30, 50, 70, 80, 90, 110, 120, 130, 150, 170, 190)
	s.site("example.org/shop/session.Loop", "/build/shop/session/session.go", 39, 190, 0.4)
	s.inside("example.org/shop/session.Loop", 62)
	s.p.Goroutines[len(s.p.Goroutines)-1].Where[1].Frames[0].File = "/build/shop/session/session.go"
	s.p.Goroutines[len(s.p.Goroutines)-1].Where[1].Frames[0].Line = 39
	s.retained("example.org/shop/session.Loop")
	s.stand(0.1, 0, 42, 0) // the rest were still to connect
	for i := 1; i < 20; i++ {
		s.stand(1.5*float64(i), 10*float64(i), 62, 0)
	}
	return s
}

// What as many calls had more and more of, all along, is left by none of them, and no work in flight.
func TestWhatTheSameCallsHaveMoreAndMoreOfIsNoBurst(t *testing.T) {
	for name, k := range map[string]struct {
		edit       func(s *scene)
		idle, even bool
	}{
		"as many all along": {func(*scene) {}, true, true},
		"they work": {func(s *scene) { // and grew in a few readings
			s.p.Goroutines[len(s.p.Goroutines)-1].Reason = "sync.Mutex.Lock"
			s.Cycles = s.Cycles[:9]
		}, false, false},
		"they became more": {func(s *scene) {
			for i := range s.Sites[0].Course {
				s.Sites[0].Course[i].Calls[0] = min(62, 3*i)
			}
		}, false, false},
		"the memory was there when they began": {func(s *scene) {
			for i := range s.Sites[0].Course {
				s.Sites[0].Course[i].Bytes = max(s.Sites[0].Course[i].Bytes, 60*mib)
			}
		}, false, false},
		"at once": {func(s *scene) {
			for i := range s.Cycles[:len(s.Cycles)-2] {
				s.Cycles[i].Marked = sample.Bytes(i) * mib
			}
		}, true, false},
	} {
		s := connections()
		k.edit(s)
		c := newCase(s.Evidence)
		if c.standIdle() != k.idle || c.evenCalls() != k.even {
			t.Errorf("%s: idle %v, even %v", name, c.standIdle(), c.evenCalls())
		}
		if f := judgeBurst(c); k.even && f.Stance == Speaks {
			t.Errorf("%s: %s", name, f.Sentence)
		}
		if stacks, _ := c.features.get("root.stacks"); k.idle && stacks == 1 {
			t.Errorf("%s: the stacks of these calls speak against a leak", name)
		}
	}
}
