package watch

import (
	"testing"
	"time"
)

// Many programs started at once are a flurry, which lasts for as long as others follow; some that follow each other
// slowly, as of a script that starts a server, are none.
func TestAFlurryIsManyStartsWithinSeconds(t *testing.T) {
	begin := time.Now()
	var slow, fast flurry
	for i := range 20 {
		now := begin.Add(time.Duration(i) * 1100 * time.Millisecond)
		if slow.start(now); slow.lasts(now) {
			t.Fatalf("start %d, 1.1 s after the one before, is one of a flurry", i)
		}
	}
	for i := range flurryStarts {
		fast.start(begin.Add(time.Duration(i) * time.Millisecond))
		if got, want := fast.lasts(begin.Add(time.Second)), i == flurryStarts-1; got != want {
			t.Errorf("after %d starts within milliseconds: a flurry %v, want %v", i+1, got, want)
		}
	}
	last := begin.Add(4 * time.Second)
	fast.start(last)
	if !fast.lasts(last.Add(flurryAfter - time.Second)) {
		t.Error("a start within a flurry does not prolong it")
	}
	if fast.lasts(last.Add(flurryAfter + time.Second)) {
		t.Error("a flurry does not end")
	}
}
