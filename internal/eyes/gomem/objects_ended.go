package gomem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// endedStack is what is known of the stack of a goroutine that ran when its process ended: its outermost frames,
// innermost first.
type endedStack struct {
	pcs   []uint64
	sizes []uint32 // of the frames, bytes
	top   uint64   // where the outermost of them ends
	leaf  uint64   // what the innermost called, 0: not known
}

// Ended says that the process is held at its end, so that the registers of its threads are lost. Of each goroutine
// that ran its own code the outermost frames are found now, on amd64, as the code is read for it: what they
// keep is then told from what the calls below them do.
func (h *HeapCopy) Ended() error {
	c := h.c
	modules, err := c.r.learnModules()
	if err != nil {
		return fmt.Errorf("the stacks of goroutines that ran: %w", err)
	}
	w := walk{code: &c.r.goroutines.code, mem: c.r.mem, threads: c.r.goroutines.threads, foreign: modules > 1, ended: true}
	c.ended = make(map[uint64]endedStack)
	for i := range c.goroutines {
		g := &c.goroutines[i]
		if _, known := w.running(g); g.status != statusRunning || known {
			continue
		}
		w.pcs, w.frames = w.pcs[:0], w.frames[:0]
		if top, ok := w.outer(g); ok {
			c.ended[g.addr] = endedStack{slices.Clone(w.pcs), slices.Clone(w.frames), top, w.target(w.pcs[0] + 1)}
		}
	}
	return nil
}

// endedStack adds all words of such a stack, outermost first: of what several frames lead to, the one that
// returns last keeps it.
func (ro *rooter) endedStack(g *goroutine, e *endedStack) {
	b := ro.c.at(g.lo)
	b = b[:min(uint64(len(b)), g.hi-g.lo)&^7]
	ro.o.Frames.Whole += len(e.pcs) + 1
	for i, pc := range slices.Backward(e.pcs) {
		size := uint64(e.sizes[i]+7) &^ 7
		if end := e.top - g.lo; end > uint64(len(b)) || size > end {
			break
		} else {
			ro.words(ro.frame(ro.function(pc)), b[end-size:end])
			b = b[:end-size]
			e.top -= size
		}
	}
	name := sample.WholeStack
	if f := ro.function(e.leaf); e.leaf != 0 && !strings.HasPrefix(f, "runtime.") {
		name = f // and what it called before
	}
	ro.words(ro.frame(name), b)
}
