package gobin

import (
	"runtime/debug"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Locations appends the locations of a stack as runtime/pprof writes them into a
// profile. The stack is as the runtime keeps it in its buckets: link-time return
// addresses, innermost first, one for each logical frame - an inlined function
// has the address of a mark in the function around it. Calls inlined into each
// other become one location again, the last entry is expanded if the stack was
// cut there, and runtime.goexit is left out.
//
// Frames are named by the linker's symbols; a location outside Go's code has no
// frames. Location.Address is an instruction of the call, not a return address.
func (b *Binary) Locations(dst []sample.Location, stack []uint64) []sample.Location {
	dst, _ = b.split(dst, stack, 0)
	return dst
}

// Site is the locations of an allocation's stack, and how many of them, the
// innermost, runtime/pprof hides in a heap profile: the leading frames whose
// return address itself lies in a function of the runtime, inlined or not
// (runtime/pprof/protomem.go, writeHeapProto). Calls inlined into each other are
// two locations where that divides them.
func (b *Binary) Site(stack []uint64) (locations []sample.Location, hidden int) {
	for i, ret := range stack {
		f := b.innermost(ret)
		if len(f) > 0 && (strings.HasPrefix(f[0].Symbol, "runtime.") || strings.HasPrefix(f[0].Symbol, "internal/runtime/")) {
			continue
		}
		if locations, hidden = b.split(nil, stack, i); hidden < len(locations) {
			return locations, hidden
		}
		break // nothing would be left: all are shown
	}
	return b.Locations(nil, stack), 0
}

// innermost is the first of Frames; none outside Go's code.
func (b *Binary) innermost(pc uint64) []Frame {
	f, ok := b.function(pc)
	if !ok {
		return nil
	}
	return b.logical(f.t, pc, false)
}

// function is find, of a file that may have been cut since.
func (b *Binary) function(pc uint64) (f function, ok bool) {
	defer ignoreFault(debug.SetPanicOnFault(true))
	return b.find(pc)
}

// split appends the locations of a stack and begins a new one at its entry cut;
// before is how many there are then.
func (b *Binary) split(dst []sample.Location, stack []uint64, cut int) (locations []sample.Location, before int) {
	var deck deck
	for i, ret := range stack {
		if i == cut {
			dst = deck.flush(dst)
			before = len(dst)
		}
		pc, f, ok := b.callPC(ret)
		switch {
		case !ok:
			dst = append(deck.flush(dst), sample.Location{Address: pc})
		case f.id() == f.t.ids.goexit:
			dst = deck.flush(dst)
		default:
			for _, fr := range b.logical(f.t, pc, i == len(stack)-1) {
				if !deck.add(pc, fr) {
					dst = deck.flush(dst)
					deck.add(pc, fr)
				}
			}
		}
	}
	return deck.flush(dst), before
}

// callPC steps back from a return address into the call, but not out of its
// function: runtime.Frames.Next.
func (b *Binary) callPC(ret uint64) (pc uint64, f function, ok bool) {
	defer ignoreFault(debug.SetPanicOnFault(true))
	if f, ok = b.find(ret); !ok {
		return ret - 1, function{}, false
	}
	if ret == f.entry {
		return ret, f, true
	}
	return ret - 1, f, true
}

// logical is the frame that a logical pc stands for: the innermost at it. For
// the last pc of a stack it is all of them.
func (b *Binary) logical(t *table, pc uint64, last bool) []Frame {
	if known, ok := t.known(lineKey{pc, last}); ok {
		return known
	}
	frames := make([]Frame, 0, 1)
	b.walk(pc, func(f function, c call) bool {
		frames = append(frames, f.frame(c))
		return last
	})
	t.note(lineKey{pc, last}, frames)
	return frames
}

// deck collects frames of one physical function that are inlined into each
// other: runtime/pprof/proto.go, pcDeck.
type deck struct {
	address uint64
	frames  []sample.Frame
	last    Frame
}

// add is false if the frame belongs to the next location.
func (d *deck) add(pc uint64, f Frame) bool {
	if len(d.frames) > 0 {
		// A frame of the same name is a recursive call: nothing is inlined into itself.
		if !d.last.Inlined || d.last.Entry != f.Entry || d.last.Symbol == f.Symbol {
			return false
		}
	} else {
		d.address = pc
	}
	d.frames = append(d.frames, sample.Frame{Func: f.Symbol, File: f.File, Line: f.Line, StartLine: f.StartLine})
	d.last = f
	return true
}

func (d *deck) flush(dst []sample.Location) []sample.Location {
	if len(d.frames) > 0 {
		dst = append(dst, sample.Location{Address: d.address, Frames: d.frames})
	}
	*d = deck{}
	return dst
}
