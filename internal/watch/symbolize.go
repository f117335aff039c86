package watch

import (
	"github.com/highwater-go/highwater/internal/gobin"
	"github.com/highwater-go/highwater/internal/sample"
)

// symbolizer turns the addresses of one process into source terms.
type symbolizer struct {
	bin  *gobin.Binary
	bias uint64

	addresses []uint64
	frames    []gobin.Frame
}

// site is a bucket of the heap profile in source terms.
func (s *symbolizer) site(b sample.Bucket) sample.Site {
	s.addresses = s.addresses[:0]
	for _, pc := range b.Stack {
		s.addresses = append(s.addresses, pc-s.bias)
	}
	stack, hidden := s.bin.Site(s.addresses)
	return sample.Site{Stack: stack, Size: b.Size, Hidden: hidden}
}

// goroutines puts the stacks of groups into source terms: the innermost address
// is a program counter, the others and the creator's are return addresses.
func (s *symbolizer) goroutines(groups []sample.GoroutineGroup) {
	for i := range groups {
		g := &groups[i]
		for n, pc := range g.Stack {
			if n > 0 {
				pc--
			}
			g.Where = append(g.Where, s.location(pc))
		}
		if g.Creator != 0 {
			g.CreatedAt = s.location(g.Creator - 1)
		}
	}
}

// location is one program counter with all calls inlined there.
func (s *symbolizer) location(pc uint64) sample.Location {
	loc := sample.Location{Address: pc - s.bias}
	s.frames = s.bin.Frames(s.frames[:0], loc.Address)
	for _, f := range s.frames {
		loc.Frames = append(loc.Frames, sample.Frame{Func: f.Symbol, File: f.File, Line: f.Line, StartLine: f.StartLine})
	}
	return loc
}
