package app

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// Of children that end one after the other some heaps are captured, for a share of the time.
func TestHeapsOfChildrenThatEndTakeAShareOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taker := newHeapTaker(HeapPolicy{Kill: true, Exit: true, ByDefault: true}, newStatus(io.Discard))
		defer taker.giveUp()
		const analysis = 300 * time.Millisecond
		var took time.Duration
		taken, began := 0, time.Now()
		for time.Since(began) < time.Minute {
			spent, ok := taker.childExit()
			if !ok {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			if _, again := taker.childExit(); again {
				t.Fatal("two at a time")
			}
			time.Sleep(analysis)
			spent()
			taken, took = taken+1, took+analysis
		}
		if share := float64(time.Since(began)) / float64(took); taken < 3 || share < quietShare*0.9 {
			t.Errorf("%d heaps in a minute, a share of one in %.1f, want one in %d", taken, share, quietShare)
		}
	})
}
