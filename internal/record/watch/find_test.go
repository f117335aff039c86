package watch

import (
	"testing"
	"time"
)

// A machine so busy that a look through it takes seconds is looked through again soon: a
// share of the time without an end was a program that nobody found.
func TestASweepThatTookLongIsNotTheLastForMinutes(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: sweepEvery, 10 * time.Millisecond: 5 * time.Second, 3 * time.Second: sweepWithin,
		time.Minute: sweepWithin} {
		if got := sweepAfter(took); got != want {
			t.Errorf("after one of %v the next is due in %v, want %v", took, got, want)
		}
	}
}
