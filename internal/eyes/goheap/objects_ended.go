package goheap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Ended says that the process is held at its end, so that the registers of its threads are lost. Of each goroutine
// that ran its own code the outermost frames are found now, on amd64, as the code is read for it: what they
// keep is then told from what the calls below them do.
func (h *HeapCopy) Ended() error {
	ended, err := h.c.r.EndedStacks(h.c.goroutines)
	if err != nil {
		return fmt.Errorf("the stacks of goroutines that ran: %w", err)
	}
	h.c.ended = ended
	return nil
}

// endedStack adds all words of such a stack, outermost first: of what several frames lead to, the one that
// returns last keeps it.
func (ro *rooter) endedStack(g *gomem.Goroutine, e *gomem.EndedStack) {
	b := ro.c.at(g.Lo)
	b = b[:min(uint64(len(b)), g.Hi-g.Lo)&^7]
	ro.o.Frames.Whole += len(e.PCs) + 1
	for i, pc := range slices.Backward(e.PCs) {
		size := uint64(e.Sizes[i]+7) &^ 7
		if end := e.Top - g.Lo; end > uint64(len(b)) || size > end {
			break
		} else {
			ro.words(ro.frame(ro.function(pc)), b[end-size:end])
			b = b[:end-size]
			e.Top -= size
		}
	}
	name := sample.WholeStack
	if f := ro.function(e.Leaf); e.Leaf != 0 && !strings.HasPrefix(f, "runtime.") {
		name = f // and what it called before
	}
	ro.words(ro.frame(name), b)
}
