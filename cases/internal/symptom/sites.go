package symptom

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Site is a line of a program and the bytes that it and everything it called
// allocated.
type Site struct {
	Function string
	File     string
	Line     int64
	Bytes    int64
	Share    float64 // of the whole profile, 0 to 1
}

// Sites adds up a heap profile's samples by the innermost frame that is the
// program's own, most bytes first. kind is inuse_space or alloc_space.
func Sites(p *profile.Profile, kind string) []Site {
	if p == nil {
		return nil
	}
	column := columnOf(p, kind)
	bytes := map[Site]int64{}
	for _, s := range p.Sample {
		if at, ok := own(s); ok {
			bytes[at] += s.Value[column]
		}
	}
	all := float64(max(total(p, kind), 1))
	var sites []Site
	for at, n := range bytes {
		at.Bytes, at.Share = n, float64(n)/all
		sites = append(sites, at)
	}
	slices.SortFunc(sites, func(a, b Site) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return sites
}

// own is the innermost frame of a stack that belongs to a case.
func own(s *profile.Sample) (Site, bool) {
	for _, l := range s.Location { // innermost first
		for _, line := range l.Line { // inlined calls before their callers
			if f := line.Function; f != nil && ours(f.Name) {
				return Site{Function: f.Name, File: f.Filename, Line: line.Line}, true
			}
		}
	}
	return Site{}, false
}

func ours(function string) bool {
	return strings.HasPrefix(function, "main.") || strings.HasPrefix(function, "github.com/highwater-go/highwater/cases/")
}

func total(p *profile.Profile, kind string) (n int64) {
	column := columnOf(p, kind)
	for _, s := range p.Sample {
		n += s.Value[column]
	}
	return n
}

func columnOf(p *profile.Profile, kind string) int {
	return slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == kind })
}
