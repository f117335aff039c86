package explain

import "github.com/highwater-go/highwater/internal/words/sample"

// Nature says how long a part of the memory will be there.
type Nature string

// The natures of the parts of a peak.
const (
	Steady    Nature = "steady"
	GrowsOn   Nature = "growing"
	InFlight  Nature = "in-flight"
	Garbage   Nature = "garbage"
	FreeHeap  Nature = "free-heap"
	OffHeap   Nature = "native"
	OfStacks  Nature = "stacks"
	OfRuntime Nature = "runtime"
	FilePages Nature = "page-cache"
	OfKernel  Nature = "kernel"
	Unknown   Nature = "unknown"
)

// Part is one part of the memory at the moment: a row of the ledger, or a line within the live
// heap or the stacks.
type Part struct {
	Row      string       `json:"row"`
	Nature   Nature       `json:"nature"`
	Bytes    sample.Bytes `json:"bytes"`
	Function string       `json:"function,omitempty"`
	File     string       `json:"file,omitempty"`
	Line     int          `json:"line,omitempty"`
	Count    int          `json:"count,omitempty"` // goroutines
}

// mostLines bounds the lines of the live heap that are parts of their own; no line of a tenth
// of it is left out.
const mostLines = 5

// composition says what made the memory of the moment.
func (c *Case) composition() []Part {
	out := []Part{}
	for _, r := range c.ledger.Rows {
		switch r.Name {
		case sample.RowLive, sample.RowNew:
			out = append(out, c.liveParts(r)...)
		case sample.RowStacks:
			out = append(out, c.stackParts(r)...)
		default:
			out = append(out, Part{Row: r.Name, Nature: natureOfRow(r.Name), Bytes: r.Bytes})
		}
	}
	return out
}

func natureOfRow(name string) Nature {
	switch name {
	case sample.RowGarbage:
		return Garbage
	case sample.RowIdle:
		return FreeHeap
	case sample.RowNative, sample.RowOther, sample.RowWatcher:
		return OffHeap
	case sample.RowRuntime, sample.RowProgramData:
		return OfRuntime
	case sample.RowPageCache:
		return FilePages
	case sample.RowKernel, sample.RowSockets:
		return OfKernel
	}
	return Unknown
}

// liveParts divides the live heap by line: each as much of the row as it is of the lines.
func (c *Case) liveParts(r sample.LedgerRow) (out []Part) {
	var all sample.Bytes
	for _, s := range c.Sites {
		all += s.Bytes
	}
	if r.Name != sample.RowLive || all == 0 {
		return []Part{{Row: r.Name, Nature: Unknown, Bytes: r.Bytes}}
	}
	rest := r.Bytes
	for i := range c.Sites {
		s := &c.Sites[i]
		part := sample.Bytes(float64(r.Bytes) * float64(s.Bytes) / float64(all))
		if part*10 < r.Bytes && i >= mostLines || part == 0 {
			break
		}
		out = append(out, Part{Row: r.Name, Nature: c.natureOf(s), Bytes: part, Function: s.Function, File: s.File, Line: s.Line})
		rest = rest.Sub(part)
	}
	if rest > 0 {
		out = append(out, Part{Row: r.Name, Nature: Unknown, Bytes: rest})
	}
	return out
}

// natureOf says how long a line's memory will be there, as far as its course tells.
func (c *Case) natureOf(s *Site) Nature {
	if len(s.Course) == 0 {
		return Unknown
	}
	f := c.inFlight
	if s != c.site {
		f = callsAround(s, c.goroutines(), c.outcome.MomentElapsed)
	}
	switch late := c.lateGrowthOf(s, c.rise.from, c.outcome.MomentElapsed); {
	case f.calls > 0 && !f.standing && !(f.left >= leftBehind.v()) && !(s.aged(c.rise.from, c.outcome.MomentElapsed) >= agedHalf.v()):
		return InFlight
	case late >= blamedPart.v()*float64(s.Bytes):
		return GrowsOn
	}
	return Steady
}

// stackParts names the greatest group of goroutines, where their stacks are much.
func (c *Case) stackParts(r sample.LedgerRow) []Part {
	p := pile{}
	if c.proc == nil || c.proc.Goroutines == nil {
		return []Part{{Row: r.Name, Nature: OfStacks, Bytes: r.Bytes}}
	}
	if c.waiters(&p); p.waiting < int(fewestPiled.v()) {
		return []Part{{Row: r.Name, Nature: OfStacks, Bytes: r.Bytes}}
	}
	first := Part{Row: r.Name, Nature: OfStacks, Bytes: min(r.Bytes, max(p.stacks, r.Bytes*sample.Bytes(p.waiting)/sample.Bytes(max(1, p.read)))),
		Function: p.named().Func, File: p.named().File, Line: p.named().Line, Count: p.waiting}
	return append([]Part{first}, restOf(r, first.Bytes)...)
}

func restOf(r sample.LedgerRow, part sample.Bytes) []Part {
	if r.Bytes <= part {
		return nil
	}
	return []Part{{Row: r.Name, Nature: OfStacks, Bytes: r.Bytes - part}}
}
