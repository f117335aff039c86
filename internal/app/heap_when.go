package app

import (
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// at captures at a new maximum of the charge, unless it is hardly above the last, and on the calm
// rhythm.
func (t *heapTaker) at(kind sample.MomentKind) {
	if t.startsMany() {
		return
	}
	t.mu.Lock()
	more := t.peakAt / peakGrowth
	if t.ByDefault {
		more = max(t.peakAt/quietGrowth, smallHeap)
	}
	due := kind == sample.MomentMax && t.charge > t.peakAt+more
	charge := t.charge
	calm := t.calmDue(time.Now())
	t.mu.Unlock()
	if calm && !due {
		t.take(sample.HeapEvery)
		return
	}
	if due && t.take(sample.HeapPeak) {
		t.mu.Lock()
		t.peakAt = charge
		t.mu.Unlock()
	}
}

// atEnd captures the heaps of programs that are about to be ended: what they hold before they clean
// up. Their last stop has no successor that it could come too early for.
func (t *heapTaker) atEnd() {
	if t == nil || !t.Peak {
		return
	}
	t.mu.Lock()
	t.next = time.Time{}
	t.mu.Unlock()
	t.take(sample.HeapEvery)
}

// calmDue reports whether the time for a capture that nobody asked for has come: at ever longer intervals, so
// that a run of any length has some readings of its live heap, though no collection ended in
// it. t.mu is held.
func (t *heapTaker) calmDue(now time.Time) bool {
	if !t.ByDefault {
		return false
	}
	if t.calm.IsZero() {
		t.calmEvery, t.calm = quietFirst, now.Add(quietFirst)
	}
	if now.Before(t.calm) {
		return false
	}
	t.calmEvery = t.calmEvery * 3 / 2
	t.calm = now.Add(t.calmEvery)
	return true
}
