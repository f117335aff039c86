package explain

import "testing"

// A program that switched GC off is not healthy, however little was live at its last collection.
func TestAHeapThatNothingCollectsIsNotHealthy(t *testing.T) {
	build := func(goal float64) *scene {
		s := newScene()
		s.heap(0.1, 0.1, 480)
		s.charge()
		s.cycles(0.1, 0.1, 0.1, 0.1, 0.1)
		g := s.Moment.Processes[0].Go
		g.HeapMarked, g.HeapLive, g.HeapGoal = bytesOf(0.1), bytesOf(470), bytesOf(goal)
		s.Moment.Cgroup.Limit.OK = false
		return s
	}
	if c := newCase(build(1 << 40).Evidence); c.neverCollected() < 400*mib {
		t.Errorf("never collected: %d bytes", c.neverCollected())
	} else if f, not := c.notHealthy(); !not || f.Stance == Speaks {
		t.Errorf("with GC off: %+v", f)
	}
	if c := newCase(build(960).Evidence); c.neverCollected() != 0 {
		t.Errorf("with GC on %d bytes are never collected", c.neverCollected())
	}
}
