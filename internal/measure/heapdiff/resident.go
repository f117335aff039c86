package heapdiff

import (
	"time"

	"github.com/google/pprof/profile"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// ResidentToPprof is what made resident memory grow in pprof's form: sampled page faults and
// the bytes that they stand for, with the kind of memory as a label. Frames of C have a
// function and a file, and no line.
func ResidentToPprof(growth []sample.ResidentGrowth, at time.Time, program sample.Program, comments ...string) *profile.Profile {
	b := newBuilder(program, residentSites(growth), at, comments)
	count := profile.ValueType{Type: "resident_faults", Unit: "count"}
	b.of("resident_grown_bytes", count, 1, &count, &profile.ValueType{Type: "resident_grown_bytes", Unit: "bytes"})
	for i := range growth {
		g := &growth[i]
		b.through(g.Where, g.Samples, uint64(g.Bytes)).Label = map[string][]string{"memory": {string(g.Kind)}}
	}
	return b.out
}

func residentSites(growth []sample.ResidentGrowth) (sites []sample.Site) {
	for i := range growth {
		sites = append(sites, siteThrough(growth[i].Where))
	}
	return sites
}

// siteThrough is a stack that may go through C.
func siteThrough(where []sample.Location) (s sample.Site) {
	for _, l := range where {
		s.Stack = append(s.Stack, ofProgram(l))
	}
	return s
}

// through adds a sample of a stack that may go through C.
func (b *builder) through(where []sample.Location, values ...uint64) *profile.Sample {
	out := &profile.Sample{}
	for _, v := range values {
		out.Value = append(out.Value, int64(v))
	}
	if len(where) == 0 {
		where = unread
	}
	for _, l := range where {
		out.Location = append(out.Location, b.location(ofProgram(l)))
	}
	b.out.Sample = append(b.out.Sample, out)
	return out
}

// NativeToPprof is what C's allocator had given out and not got back in pprof's form, with the sample
// types of a heap profile: those of pprof's own views.
func NativeToPprof(live []sample.NativeLive, at time.Time, interval sample.Bytes, program sample.Program, comments ...string) *profile.Profile {
	var sites []sample.Site
	for i := range live {
		sites = append(sites, siteThrough(live[i].Where))
	}
	b := newBuilder(program, sites, at, comments)
	b.of("inuse_space", profile.ValueType{Type: "space", Unit: "bytes"}, int64(interval),
		&profile.ValueType{Type: "inuse_objects", Unit: "count"}, &profile.ValueType{Type: "inuse_space", Unit: "bytes"})
	for i := range live {
		if l := &live[i]; l.Samples > 0 {
			b.through(l.Where, l.Objects, uint64(l.Bytes))
		}
	}
	return b.out
}

// ofProgram is a location without the address where that is one of another file, as those
// of C may be.
func ofProgram(l sample.Location) sample.Location {
	if len(l.Frames) == 0 || l.Frames[0].Line == 0 {
		l.Address = 0
	}
	return l
}
