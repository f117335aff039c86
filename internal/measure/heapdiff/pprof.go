package heapdiff

import (
	"fmt"
	"time"

	"github.com/google/pprof/profile"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// ToPprof is the profile in pprof's form, as runtime/pprof writes it (protomem.go):
// four values a sample, scaled; the label bytes; a site's hidden locations left
// out; the period is the program's rate. In addition the default sample type is
// inuse_space, and the comments say where it comes from.
//
// Addresses are those of the executable file, so that two profiles of one build
// have the same and can be subtracted. Samples without a count are left out.
func ToPprof(p Profile, program sample.Program, v View, comments ...string) *profile.Profile {
	b := newBuilder(program, p.Sites, p.At, comments)
	b.of("inuse_space", profile.ValueType{Type: "space", Unit: "bytes"}, p.Rate,
		&profile.ValueType{Type: "alloc_objects", Unit: "count"}, &profile.ValueType{Type: "alloc_space", Unit: "bytes"},
		&profile.ValueType{Type: "inuse_objects", Unit: "count"}, &profile.ValueType{Type: "inuse_space", Unit: "bytes"})
	for i, c := range p.Counts[:p.count()] {
		if v.Allocs(c) != 0 || v.InUse(c) != 0 {
			b.sample(p.Sites[i], Scale(v.Allocs(c), p.Sites[i].Size, p.Rate), Scale(v.InUse(c), p.Sites[i].Size, p.Rate))
		}
	}
	return b.out
}

// builder numbers functions and locations as they come.
type builder struct {
	out       *profile.Profile
	mapping   *profile.Mapping
	functions map[sample.Frame]*profile.Function // by frame without its line
	locations map[string]*profile.Location       // by address and lines
}

// newBuilder begins a profile of a program at a time.
func newBuilder(program sample.Program, sites []sample.Site, at time.Time, comments []string) builder {
	b := builder{mapping: mappingOf(program, sites), functions: map[sample.Frame]*profile.Function{}, locations: map[string]*profile.Location{}}
	b.out = &profile.Profile{TimeNanos: at.UnixNano(), Mapping: []*profile.Mapping{b.mapping}, Comments: comments}
	return b
}

// of says what the values of a sample are, which of them is shown first, and that one is taken in each period.
func (b *builder) of(first string, periodOf profile.ValueType, period int64, values ...*profile.ValueType) {
	b.out.SampleType, b.out.DefaultSampleType, b.out.PeriodType, b.out.Period = values, first, &periodOf, period
}

// mappingOf is the one mapping, the executable. Where it ends is not known, so it
// is rounded up generously: it has to be the same for all profiles of a build,
// whose mappings pprof would else take for different ones.
func mappingOf(program sample.Program, sites []sample.Site) *profile.Mapping {
	const granule = 1 << 30
	limit := uint64(granule)
	for _, s := range sites {
		for _, l := range s.Stack {
			limit = max(limit, (l.Address/granule+1)*granule)
		}
	}
	m := &profile.Mapping{ID: 1, Limit: limit, File: program.Exe, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
	if program.Go != nil {
		m.BuildID = program.Go.BuildID
	}
	return m
}

func (b *builder) sample(s sample.Site, alloc, inUse Amount) {
	out := &profile.Sample{
		Value:    []int64{alloc.Objects, alloc.Bytes, inUse.Objects, inUse.Bytes},
		NumLabel: map[string][]int64{"bytes": {int64(s.Size)}},
	}
	for _, l := range s.Stack[min(max(s.Hidden, 0), len(s.Stack)):] {
		out.Location = append(out.Location, b.location(l))
	}
	b.out.Sample = append(b.out.Sample, out)
}

func (b *builder) location(l sample.Location) *profile.Location {
	key := fmt.Sprint(l.Address, l.Frames)
	if known := b.locations[key]; known != nil {
		return known
	}
	out := &profile.Location{ID: uint64(len(b.out.Location) + 1), Mapping: b.mapping, Address: l.Address}
	for _, f := range l.Frames {
		out.Line = append(out.Line, profile.Line{Function: b.function(f), Line: int64(f.Line)})
	}
	b.locations[key] = out
	b.out.Location = append(b.out.Location, out)
	return out
}

func (b *builder) function(f sample.Frame) *profile.Function {
	f.Line = 0
	if known := b.functions[f]; known != nil {
		return known
	}
	out := &profile.Function{ID: uint64(len(b.out.Function) + 1), Name: f.Func, SystemName: f.Func, Filename: f.File, StartLine: int64(f.StartLine)}
	b.functions[f] = out
	b.out.Function = append(b.out.Function, out)
	return out
}
