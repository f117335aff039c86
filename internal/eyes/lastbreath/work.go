package lastbreath

import "time"

// Work is what the threads of this process had done when it was looked at: who waits for a
// call that is slow tells by two looks whether it is at work, or hangs.
type Work struct {
	at      time.Time
	threads map[int]threadWork
}

// threadWork is one thread.
type threadWork struct {
	used     time.Duration // it ran, or waited for a processor until it got one
	runnable bool          // it runs, or waits for a processor
}

// atWork is the part of a processor that this process takes where a call is
// slow, as in a machine that is emulated or has much else to do, and not stuck.
const atWork = 4 // a quarter

// Since says whether this process was at work since an earlier look. The kernel counts a thread's wait for a
// processor once that has ended: one that wanted to run at both looks and got nothing in between has waited all the
// time, as where others have all of the machine.
func (w Work) Since(before Work) bool {
	passed := w.at.Sub(before.at)
	var sum time.Duration
	for tid, now := range w.threads {
		was, known := before.threads[tid]
		switch {
		case !known:
			sum += now.used
		case now.used == was.used && now.runnable && was.runnable:
			sum += passed
		default:
			sum += now.used - was.used
		}
	}
	return sum*atWork >= passed
}
