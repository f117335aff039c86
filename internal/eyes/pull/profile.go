package pull

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// maxProfile bounds a profile, packed and unpacked. One of 200,000 allocation sites has
// some 60 MB.
const maxProfile = 64 << 20

// Profile is a heap profile as a program wrote it.
type Profile struct {
	At      time.Time // when it was written, zero if it does not say
	Program Program
	// Rate is the program's MemProfileRate, to which the counts belong: sampled
	// objects, unscaled. It is 0 where Scaled says why the scaling could not be
	// taken back: Counts are then the profile's own estimates.
	Rate   int64
	Scaled string
	Sites  []sample.Site
	Counts []sample.BucketCounts // of Sites; both views are the published one

	Allocated int64 // objects allocated since the program began, by its own estimate
	InUse     int64 // bytes in use, likewise
}

// Program is what a profile says of the program that wrote it. Both are empty
// where it does not say.
type Program struct {
	Exe     string // path of the executable
	BuildID string // GNU build ID, in hexadecimal
}

// Name is the base name of the executable, "" if that is not known.
func (p Program) Name() string {
	if p.Exe == "" {
		return ""
	}
	return path.Base(p.Exe)
}

// ReadProfile reads a heap profile, gzip or not. Its errors are those of this
// package, or of reading.
func ReadProfile(r io.Reader) (*Profile, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxProfile+1))
	if err != nil {
		return nil, err
	}
	if data, err = unpacked(data); err != nil {
		return nil, err
	}
	p, err := parse(data)
	if err != nil {
		return nil, err
	}
	columns, err := columnsOf(p)
	if err != nil {
		return nil, err
	}
	out := &Profile{Program: programOf(p), Rate: p.Period}
	if p.TimeNanos > 0 {
		out.At = time.Unix(0, p.TimeNanos)
	}
	if !named(p) {
		return nil, ErrNoSymbols
	}
	return out, out.fill(p, columns)
}

// unpacked is the profile without its compression.
func unpacked(data []byte) ([]byte, error) {
	switch {
	case len(data) == 0:
		return nil, ErrEmpty
	case len(data) > maxProfile:
		return nil, ErrTooLarge
	case !bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(z, maxProfile+1))
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, ErrCutProfile
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNotProfile, err)
	case len(data) > maxProfile:
		return nil, ErrTooLarge
	}
	return data, nil
}

// parse decodes and checks a profile. The decoder has panicked on foreign bytes
// before.
func parse(data []byte) (p *profile.Profile, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, ErrNotProfile
		}
	}()
	if text := strings.ToLower(string(data[:min(len(data), 512)])); strings.Contains(text, "<html") || strings.Contains(text, "<!doctype") {
		return nil, ErrHTML
	}
	if memoryOf(data) > maxDecoded {
		return nil, ErrTooLarge
	}
	if p, err = profile.ParseData(data); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotProfile, err)
	}
	return p, nil
}

// columns are where a sample's four values stand.
type columns struct{ allocObjects, allocBytes, inUseObjects, inUseBytes int }

// columnsOf finds the values of a heap profile. Those of old tools name the live
// objects "objects" and "space".
func columnsOf(p *profile.Profile) (columns, error) {
	find := func(names ...string) int {
		return slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return slices.Contains(names, t.Type) })
	}
	c := columns{find("alloc_objects"), find("alloc_space"), find("inuse_objects", "objects"), find("inuse_space", "space")}
	if c.inUseObjects < 0 || c.inUseBytes < 0 {
		return c, fmt.Errorf("%w but one of %s", ErrOtherKind, kindOf(p))
	}
	if p.DurationNanos > 0 {
		return c, ErrDifference
	}
	return c, nil
}

// kindOf is what the profile is about, in words.
func kindOf(p *profile.Profile) string {
	var types []string
	for _, t := range p.SampleType {
		types = append(types, t.Type)
	}
	words := strings.Join(types, ", ")
	for _, k := range []struct{ types, words string }{
		{"samples, cpu", "CPU time"}, {"contentions, delay", "waiting for locks"}, {"goroutine", "goroutines"}, {"threadcreate", "threads"},
	} {
		if words == k.types {
			return k.words
		}
	}
	if words == "" {
		return "nothing"
	}
	return words
}

// programOf is what the mapping of the executable says: it comes first.
func programOf(p *profile.Profile) Program {
	if len(p.Mapping) == 0 {
		return Program{}
	}
	return Program{Exe: p.Mapping[0].File, BuildID: p.Mapping[0].BuildID}
}

// named reports whether some location has a function; or there is no sample at all.
func named(p *profile.Profile) bool {
	return len(p.Location) == 0 || slices.ContainsFunc(p.Location, func(l *profile.Location) bool { return len(l.Line) > 0 })
}
