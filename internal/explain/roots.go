package explain

import (
	"math"
	"strings"

	"github.com/highwater-go/highwater/internal/sample"
)

// keepers is how much of the memory in question is kept by what: lasting roots, which are
// variables and frames that never return, and frames of calls in flight. NaN where no
// capture of the heap near the moment tells.
type keepers struct {
	lasting, frames float64
	along           float64      // the part of lasting that goroutines keep which run along: by their number
	of              sample.Bytes // that the parts are of
}

// nearCapture is how far from the moment, in seconds, a capture of the heap may be to
// tell of the memory at it.
const nearCapture = 5

// keptBy reads it from the capture of the heap: of what was allocated at the blamed line,
// as far as holders tell; else of the whole live heap.
func (c *Case) keptBy() keepers {
	none := keepers{math.NaN(), math.NaN(), 0, 0}
	h := c.Heap
	if h == nil || math.Abs(c.seconds(h.At)-c.outcome.MomentElapsed) > max(nearCapture, c.outcome.MomentElapsed/10) {
		return none
	}
	if float64(h.LiveBytes) < heldByRoot.v()*float64(c.live.bytes) {
		return none // most of what is in question came later
	}
	var lasting, frames, along sample.Bytes
	if c.site != nil {
		for i := range h.Paths {
			if n := allocatedBy(&h.Paths[i], c.site); n > 0 {
				c.addKeeper(i, n, &lasting, &frames, &along)
			}
		}
	}
	if lasting+frames < h.LiveBytes/20 {
		lasting, frames, along = 0, 0, 0
		for i := range h.Paths {
			if h.Paths[i].Parent < 0 {
				c.addKeeper(i, h.Paths[i].Retained, &lasting, &frames, &along)
			}
		}
	}
	all := lasting + frames
	if all == 0 {
		return none
	}
	return keepers{float64(lasting) / float64(all), float64(frames) / float64(all), float64(along) / float64(all), all}
}

func (c *Case) addKeeper(path int, n sample.Bytes, lasting, frames, along *sample.Bytes) {
	if c.inFrames(path) {
		*frames += n
		return
	}
	*lasting += n
	if root := c.Heap.RootOf(path); root != nil && root.Kind == sample.RootGoroutine && root.First != 1 {
		*along += n
	}
}

// inFrames reports whether a path begins in a frame that may return: of a goroutine, but not of main's
// nor of one that was there all along.
func (c *Case) inFrames(path int) bool {
	paths, first := c.Heap.Paths, path
	for n := 0; paths[path].Parent >= 0 && n < len(paths); n++ {
		path = paths[path].Parent
	}
	if strings.Contains(c.Heap.Path(first), "its descriptor._defer") {
		return false // a function that defers for ever is one that does not return
	}
	root := paths[path].Root
	if root == nil { // a recording that does not say what roots are
		label, ok := strings.CutPrefix(paths[path].Label, "goroutine ")
		function, _, _ := strings.Cut(label, " ")
		return ok && function != "main.main" && function != "runtime.main" && !c.runsAlong(function)
	}
	return root.Kind == sample.RootGoroutine && root.First != 1 && !c.runsAlong(root.Func)
}

// runsAlong reports whether as many goroutines that began with a function were there at nearly all
// looks since the first third of the run, and no more: they are loops, and no calls. What the
// compiler wraps a go statement with arguments in is in no stack: then all goroutines count.
func (c *Case) runsAlong(function string) bool {
	begun := func(s *Stand) (n int) { return s.Begun[function] }
	if strings.Contains(function, ".gowrap") {
		begun = func(s *Stand) (n int) {
			for _, one := range s.Begun {
				n += one
			}
			return n
		}
	}
	if c.site == nil {
		return false
	}
	looks, same, n := 0, 0, -1
	for i := range c.site.Course {
		s := &c.site.Course[i]
		if !s.Goroutines || s.At < c.outcome.MomentElapsed/3 {
			continue
		}
		if n < 0 {
			n = begun(s)
		}
		looks++
		if begun(s) == n {
			same++
		}
	}
	return n > 0 && looks >= int(fewestReadings.v()) && float64(same) >= stillRunning.v()*float64(looks)
}
