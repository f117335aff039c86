package app

import (
	"testing"
	"time"
)

func TestALookThatTookLongIsNotTheLastForMinutes(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: findEvery, 10 * time.Millisecond: time.Second, 4 * time.Second: findWithin} {
		if got := findAfter(took); got != want {
			t.Errorf("after one of %v the next is due in %v, want %v", took, got, want)
		}
	}
}
