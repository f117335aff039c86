package watch

import (
	"github.com/highwater-go/highwater/internal/gobin"
	"github.com/highwater-go/highwater/internal/sample"
)

// symbolizer turns the addresses of one process into source terms.
type symbolizer struct {
	bin  *gobin.Binary
	bias uint64

	known  map[uint64]gobin.Frame // by return address, as the process has it
	frames []gobin.Frame
}

func newSymbolizer(bin *gobin.Binary, bias uint64) *symbolizer {
	return &symbolizer{bin: bin, bias: bias, known: map[uint64]gobin.Frame{}}
}

// stack divides a stack of the runtime into locations as runtime/pprof does
// (appendLocsForStack): the runtime records one address for each call, inlined
// ones included, and the calls that were inlined into one function make one
// location, whose address is the innermost's. All are return addresses.
func (s *symbolizer) stack(pcs []uint64) []sample.Location {
	var out []sample.Location
	var deck []gobin.Frame // the frames of the location that is being built
	for _, pc := range pcs {
		frame, ok := s.frame(pc)
		if !ok {
			out, deck = append(out, sample.Location{Address: pc - s.bias}), nil
			continue
		}
		if frame.Func == "runtime.goexit" {
			deck = nil
			continue
		}
		if !joins(deck, frame) {
			out, deck = append(out, sample.Location{Address: pc - s.bias}), deck[:0]
		}
		deck = append(deck, frame)
		last := &out[len(out)-1]
		last.Frames = append(last.Frames, sampleFrame(frame))
	}
	return s.completeLast(out, pcs, deck)
}

// joins says whether the call belongs to the location of the calls in deck: they
// were inlined into the function that it is of.
func joins(deck []gobin.Frame, next gobin.Frame) bool {
	if len(deck) == 0 {
		return false
	}
	last := deck[len(deck)-1]
	return last.Inlined && last.Entry == next.Entry && last.Func != next.Func
}

// completeLast adds the callers that a stack cut at its depth limit has lost: the
// last address's own inlining tells them (runtime_expandFinalInlineFrame).
func (s *symbolizer) completeLast(out []sample.Location, pcs []uint64, deck []gobin.Frame) []sample.Location {
	if len(deck) == 0 || !deck[len(deck)-1].Inlined {
		return out
	}
	s.frames = s.bin.Frames(s.frames[:0], pcs[len(pcs)-1]-s.bias-1)
	last := &out[len(out)-1]
	for _, f := range s.frames[min(1, len(s.frames)):] {
		last.Frames = append(last.Frames, sampleFrame(f))
	}
	return out
}

// location is one return address of a physical frame, with all calls inlined
// there: what an unwinder finds.
func (s *symbolizer) location(pc uint64) sample.Location {
	loc := sample.Location{Address: pc - s.bias}
	s.frames = s.bin.Frames(s.frames[:0], pc-s.bias-1)
	for _, f := range s.frames {
		loc.Frames = append(loc.Frames, sampleFrame(f))
	}
	return loc
}

// frame is the innermost call at a return address.
func (s *symbolizer) frame(pc uint64) (gobin.Frame, bool) {
	f, ok := s.known[pc]
	if !ok {
		s.frames = s.bin.Frames(s.frames[:0], pc-s.bias-1)
		if len(s.frames) > 0 {
			f = s.frames[0]
		}
		s.known[pc] = f
	}
	return f, f.Func != ""
}

func sampleFrame(f gobin.Frame) sample.Frame {
	return sample.Frame{Func: f.Func, File: f.File, Line: f.Line, StartLine: f.StartLine}
}
