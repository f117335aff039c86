package gobin

import "github.com/highwater-go/highwater/internal/words/sample"

// Symbolizer turns the addresses of one process, or of its core, into source
// terms. It is not safe for concurrent use.
type Symbolizer struct {
	bin  *Binary
	bias uint64

	addresses []uint64
	frames    []Frame
}

// Symbolizer is one for a process that has the executable loaded bias bytes above
// its link-time addresses.
func (b *Binary) Symbolizer(bias uint64) *Symbolizer { return &Symbolizer{bin: b, bias: bias} }

// Release gives back what Binary.Release does.
func (s *Symbolizer) Release() { s.bin.Release() }

// Site is a bucket of the heap profile in source terms.
func (s *Symbolizer) Site(b sample.Bucket) sample.Site {
	s.addresses = s.addresses[:0]
	for _, pc := range b.Stack {
		s.addresses = append(s.addresses, pc-s.bias)
	}
	stack, hidden := s.bin.Site(s.addresses)
	return sample.Site{Stack: stack, Size: b.Size, Hidden: hidden}
}

// Goroutines puts the stacks of groups into source terms: the innermost address
// is a program counter, the others and the creator's are return addresses.
func (s *Symbolizer) Goroutines(groups []sample.GoroutineGroup) {
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
func (s *Symbolizer) location(pc uint64) sample.Location {
	loc := sample.Location{Address: pc - s.bias}
	s.frames = s.bin.Frames(s.frames[:0], loc.Address)
	for _, f := range s.frames {
		loc.Frames = append(loc.Frames, sample.Frame{Func: f.Symbol, File: f.File, Line: f.Line, StartLine: f.StartLine})
	}
	return loc
}
