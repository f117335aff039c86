package heapdiff

import (
	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// HoldersToPprof is a heap capture in the form that pprof reads: a stack is the way
// from a variable or a goroutine to what it holds, so that what a profile calls
// cumulative is what a path retains. Values are objects and bytes; what lies on
// paths that the capture left out counts where it kept the last. All together are
// what was live, but for roots that hold next to nothing.
func HoldersToPprof(c *sample.HeapCapture, program sample.Program, comments ...string) *profile.Profile {
	mapping := &profile.Mapping{ID: 1, File: program.Exe, HasFunctions: true}
	if program.Go != nil {
		mapping.BuildID = program.Go.BuildID
	}
	out := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"}},
		DefaultSampleType: "inuse_space",
		PeriodType:        &profile.ValueType{Type: "space", Unit: "bytes"},
		Period:            1,
		TimeNanos:         c.At.UnixNano(),
		Mapping:           []*profile.Mapping{mapping},
		Comments:          comments,
	}
	objects, bytes := ownOfPaths(c)
	locations := make([]*profile.Location, len(c.Paths))
	for i := range c.Paths {
		id := uint64(i + 1)
		f := &profile.Function{ID: id, Name: c.Path(i), SystemName: c.Path(i)}
		locations[i] = &profile.Location{ID: id, Mapping: mapping, Line: []profile.Line{{Function: f}}}
		out.Function, out.Location = append(out.Function, f), append(out.Location, locations[i])
		if objects[i] == 0 && bytes[i] == 0 {
			continue
		}
		s := &profile.Sample{Value: []int64{objects[i], bytes[i]}}
		for at := i; at >= 0; at = c.Paths[at].Parent {
			s.Location = append(s.Location, locations[at])
		}
		if t := c.Paths[i].Type; t != "" && t != "?" {
			s.Label = map[string][]string{"type": {t}}
		}
		out.Sample = append(out.Sample, s)
	}
	return out
}

// ownOfPaths is what each path retains and no path that is a part of it.
func ownOfPaths(c *sample.HeapCapture) (objects, bytes []int64) {
	objects, bytes = make([]int64, len(c.Paths)), make([]int64, len(c.Paths))
	for i := range c.Paths {
		p := &c.Paths[i]
		objects[i] += int64(p.Held)
		bytes[i] += int64(p.Retained)
		if p.Parent >= 0 {
			objects[p.Parent] -= int64(p.Held)
			bytes[p.Parent] -= int64(p.Retained)
		}
	}
	for i := range objects { // of a foreign file a part may be more than the whole
		objects[i], bytes[i] = max(0, objects[i]), max(0, bytes[i])
	}
	return objects, bytes
}
