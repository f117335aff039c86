package heapdiff

import (
	"time"

	"github.com/google/pprof/profile"
	"github.com/highwater-go/highwater/internal/sample"
)

// ResidentToPprof is what made resident memory grow in pprof's form: sampled page faults and
// the bytes that they stand for, with the kind of memory as a label. Frames of C have a
// function and a file, and no line.
func ResidentToPprof(growth []sample.ResidentGrowth, at time.Time, program sample.Program, comments ...string) *profile.Profile {
	b := builder{
		mapping:   mappingOf(program, residentSites(growth)),
		functions: map[sample.Frame]*profile.Function{},
		locations: map[string]*profile.Location{},
	}
	b.out = &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "resident_faults", Unit: "count"}, {Type: "resident_grown_bytes", Unit: "bytes"}},
		DefaultSampleType: "resident_grown_bytes",
		PeriodType:        &profile.ValueType{Type: "resident_faults", Unit: "count"},
		Period:            1,
		TimeNanos:         at.UnixNano(),
		Mapping:           []*profile.Mapping{b.mapping},
		Comments:          comments,
	}
	for i := range growth {
		g := &growth[i]
		out := &profile.Sample{Value: []int64{int64(g.Samples), int64(g.Bytes)}, Label: map[string][]string{"memory": {string(g.Kind)}}}
		where := g.Where
		if len(where) == 0 {
			where = unread
		}
		for _, l := range where {
			out.Location = append(out.Location, b.location(ofProgram(l)))
		}
		b.out.Sample = append(b.out.Sample, out)
	}
	return b.out
}

func residentSites(growth []sample.ResidentGrowth) (sites []sample.Site) {
	for i := range growth {
		s := sample.Site{}
		for _, l := range growth[i].Where {
			s.Stack = append(s.Stack, ofProgram(l))
		}
		sites = append(sites, s)
	}
	return sites
}

// ofProgram is a location without the address where that is one of another file, as those
// of C may be.
func ofProgram(l sample.Location) sample.Location {
	if len(l.Frames) == 0 || l.Frames[0].Line == 0 {
		l.Address = 0
	}
	return l
}
