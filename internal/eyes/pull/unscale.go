package pull

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// fill makes sites and counts of the samples. Those of one stack and size are
// one site, as they are one bucket of the runtime.
func (out *Profile) fill(p *profile.Profile, c columns) error {
	places := map[*profile.Location]sample.Location{}
	known := map[string]int{}
	estimates := make([]estimate, 0, len(p.Sample))
	for _, s := range p.Sample {
		e := estimateOf(s, c)
		if e.alloc.objects < 0 || e.inUse.objects < 0 || e.alloc.bytes < 0 || e.inUse.bytes < 0 {
			return ErrDifference
		}
		if e.alloc == (scaled{}) && e.inUse == (scaled{}) {
			continue
		}
		out.Allocated, out.InUse = out.Allocated+e.alloc.objects, out.InUse+e.inUse.bytes
		estimates = append(estimates, e)
	}
	out.Scaled = keptScaled(estimates, out.Rate)
	if out.Scaled != "" {
		out.Rate = 0
	}
	for _, e := range estimates {
		site := sample.Site{Stack: stackOf(e.stack, places), Size: sample.Bytes(e.size)}
		key := SiteKey(site)
		i, seen := known[key]
		if !seen {
			i = len(out.Sites)
			known[key] = i
			out.Sites, out.Counts = append(out.Sites, site), append(out.Counts, sample.BucketCounts{})
		}
		out.Counts[i] = plus(out.Counts[i], e.counts(out.Rate))
	}
	return nil
}

// scaled is what a profile says of one site: objects and their bytes.
type scaled struct{ objects, bytes int64 }

// estimate is one sample of a profile.
type estimate struct {
	stack        []*profile.Location
	size         int64 // of one object
	alloc, inUse scaled
	sized        bool // the profile itself says the size
}

// estimateOf reads a sample. Its size is the label that runtime/pprof writes
// (protomem.go), else the average of what was allocated.
func estimateOf(s *profile.Sample, c columns) estimate {
	e := estimate{stack: s.Location, inUse: scaled{s.Value[c.inUseObjects], s.Value[c.inUseBytes]}}
	if c.allocObjects >= 0 && c.allocBytes >= 0 {
		e.alloc = scaled{s.Value[c.allocObjects], s.Value[c.allocBytes]}
	} else {
		e.alloc = e.inUse
	}
	if label := s.NumLabel["bytes"]; len(label) == 1 && label[0] > 0 {
		e.size, e.sized = label[0], true
		return e
	}
	for _, v := range []scaled{e.inUse, e.alloc} {
		if v.objects > 0 && e.size == 0 {
			e.size = (v.bytes + v.objects/2) / v.objects
		}
	}
	return e
}

// keptScaled says why the scaling cannot be taken back, "" if it can: every
// figure must come out again, to the byte, from the counts found.
func keptScaled(estimates []estimate, rate int64) string {
	if rate < 1 {
		return "the profile does not say at which rate it was sampled"
	}
	for _, e := range estimates {
		if !e.sized {
			return "the profile does not say the sizes of the objects"
		}
		for _, v := range []scaled{e.alloc, e.inUse} {
			if scale(unscale(v.objects, e.size, rate), e.size, rate) != v {
				return fmt.Sprintf("its figures are not those of a Go program that samples every %d bytes", rate)
			}
		}
	}
	return ""
}

// counts are the sampled objects, in both views what is published.
func (e estimate) counts(rate int64) sample.BucketCounts {
	alloc, held := e.alloc.objects, e.inUse.objects
	if rate > 1 {
		alloc, held = unscale(alloc, e.size, rate), unscale(held, e.size, rate)
	}
	alloc = max(alloc, held)
	return sample.BucketCounts{PubAllocs: uint64(alloc), PubFrees: uint64(alloc - held), NowAllocs: uint64(alloc), NowFrees: uint64(alloc - held)}
}

// scale is runtime/pprof's own arithmetic (protomem.go, scaleHeapSample).
func scale(count, size, rate int64) scaled {
	if count == 0 || size == 0 {
		return scaled{}
	}
	if rate <= 1 {
		return scaled{count, count * size}
	}
	by := 1 / (1 - math.Exp(-float64(size)/float64(rate)))
	return scaled{int64(float64(count) * by), int64(float64(count*size) * by)}
}

// unscale is the count whose scaled objects are these: as a count stands for one
// object at least, and scaling cuts the fraction, there is one at most.
func unscale(objects, size, rate int64) int64 {
	if rate <= 1 || objects == 0 {
		return objects
	}
	near := int64(float64(objects) * (1 - math.Exp(-float64(size)/float64(rate))))
	for count := max(near-1, 0); count <= near+1; count++ {
		if scale(count, size, rate).objects == objects {
			return count
		}
	}
	return near
}

// stackOf is a stack in source terms, innermost first. Locations that were
// written before are shared.
func stackOf(stack []*profile.Location, known map[*profile.Location]sample.Location) []sample.Location {
	out := make([]sample.Location, 0, len(stack))
	for _, l := range stack {
		place, ok := known[l]
		if !ok {
			place.Address = l.Address
			for _, line := range l.Line {
				place.Frames = append(place.Frames, frameOf(line))
			}
			known[l] = place
		}
		out = append(out, place)
	}
	return out
}

func frameOf(l profile.Line) sample.Frame {
	f := sample.Frame{Line: int(l.Line)}
	if l.Function != nil {
		f.Func, f.File, f.StartLine = l.Function.Name, l.Function.Filename, int(l.Function.StartLine)
	}
	return f
}

// SiteKey is the same for two sites of one process that are the same.
func SiteKey(s sample.Site) string {
	var b strings.Builder
	b.WriteString(strconv.FormatUint(uint64(s.Size), 10))
	for _, l := range s.Stack {
		b.WriteByte('|')
		b.WriteString(strconv.FormatUint(l.Address, 16))
		for _, f := range l.Frames {
			b.WriteByte(';')
			b.WriteString(f.Func)
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(f.Line))
		}
	}
	return b.String()
}

func plus(a, b sample.BucketCounts) sample.BucketCounts {
	return sample.BucketCounts{PubAllocs: a.PubAllocs + b.PubAllocs, PubFrees: a.PubFrees + b.PubFrees,
		NowAllocs: a.NowAllocs + b.NowAllocs, NowFrees: a.NowFrees + b.NowFrees}
}
