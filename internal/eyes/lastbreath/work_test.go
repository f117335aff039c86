package lastbreath

import (
	"testing"
	"time"
)

// A watcher that gets no processor is not one that hangs.
func TestWhoGetsNoProcessorIsAtWork(t *testing.T) {
	began := time.Time{}.Add(time.Hour)
	look := func(after time.Duration, threads map[int]threadWork) Work { return Work{began.Add(after), threads} }
	const half = 500 * time.Millisecond
	before := look(0, map[int]threadWork{1: {used: time.Second}, 2: {used: time.Second, runnable: true}})
	for name, c := range map[string]struct {
		now  map[int]threadWork
		want bool
	}{
		"all sleep":                 {map[int]threadWork{1: {used: time.Second}, 2: {used: time.Second}}, false},
		"one waits all the time":    {map[int]threadWork{1: {used: time.Second}, 2: {used: time.Second, runnable: true}}, true},
		"one began to wait":         {map[int]threadWork{1: {used: time.Second, runnable: true}, 2: {used: time.Second}}, false},
		"one ran":                   {map[int]threadWork{1: {used: time.Second + half/4}, 2: {used: time.Second}}, true},
		"one ran a little":          {map[int]threadWork{1: {used: time.Second + half/5}, 2: {used: time.Second}}, false},
		"one has ended":             {map[int]threadWork{1: {used: time.Second}}, false},
		"a new one did all of that": {map[int]threadWork{1: {used: time.Second}, 3: {used: half}}, true},
	} {
		if got := look(half, c.now).Since(before); got != c.want {
			t.Errorf("%s: at work %v, want %v", name, got, c.want)
		}
	}
}
