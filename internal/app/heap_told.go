package app

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// count counts a heap that was captured; t.mu is held.
func (t *heapTaker) count(c *sample.HeapCapture) {
	t.captured++
	t.paused += c.Stopped
	t.longest = max(t.longest, c.Stopped)
}

// sayCaptured sums up what --heap asked for.
func (t *heapTaker) sayCaptured() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ByDefault || t.captured == 0:
	case t.captured == 1:
		t.status.say("captured 1 heap; paused the program for %s", units.Duration(t.paused))
	default:
		t.status.say("captured %d heaps; paused the program for %s at most, %s in all", t.captured, units.Duration(t.longest), units.Duration(t.paused))
	}
}

// heldGap begins what is missing where a heap was not captured.
const heldGap = "what retains the heap of "

// gap notes that a heap was not captured; when is behind its program's name, "" where it needs none.
func (t *heapTaker) gap(p sample.Program, when string, why error) {
	switch {
	case errors.Is(why, io.EOF): // of its memory, proc_pid_mem(5)
		why = errors.New("the program ended while its heap was read")
	case errors.Is(why, gomem.ErrTooLarge):
		why = fmt.Errorf("%w, which is decided before it is taken; highwater heap PID takes what it is given by --max-memory", why)
	}
	if !t.ByDefault {
		t.status.say("the heap of %s%s was not captured: %v", p.Name, when, why)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gaps = append(t.gaps, sample.Gap{From: time.Now(), Process: p.Key, What: heldGap + p.Name + when, Why: why.Error()})
}
