package app

import (
	"context"
	"testing"
	"time"
)

// What was told to end and is at work is waited for, and what hangs is not.
func TestWhatEndsSlowlyIsWaitedForAndWhatHangsIsNot(t *testing.T) {
	const wait, look = 50 * time.Millisecond, 200 * time.Millisecond
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	busy := func() {
		for began := time.Now(); time.Since(began) < 4*look; {
		}
	}
	if !comesWithin(ended, nil, busy, wait, look) {
		t.Error("one that was at work was given up")
	}
	never := make(chan struct{})
	defer close(never)
	if comesWithin(ended, nil, func() { <-never }, wait, look) {
		t.Error("one that hangs came to its end")
	}
}
