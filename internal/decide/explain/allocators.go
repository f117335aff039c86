package explain

import (
	"cmp"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// deadOf is how many sampled objects of each site were dead and not yet swept when
// a mark reached so many.
func deadOf(p *sample.HeapProfile, reached []uint64) []int64 {
	dead := make([]int64, len(p.Counts))
	for i, n := range p.Counts[:min(len(p.Counts), len(reached))] {
		dead[i] = max(0, heapdiff.Now.InUse(n)-int64(reached[i]))
	}
	return dead
}

// allocators reads them from the last profile, with what the moment's one, whose
// holders are given, says of the time since the last collection and of the dead.
func (l *loader) allocators(last, id int64, holders []heapdiff.Holder, p heapdiff.Profile, dead []int64) error {
	latest := holders
	now := map[sample.Frame]Allocator{}
	for _, h := range holders {
		a := Allocator{Since: amount(h.Since)}
		for _, i := range h.Sites {
			if i < len(dead) {
				a.Garbage += amount(heapdiff.Scale(dead[i], p.Sites[i].Size, p.Rate))
			}
		}
		now[h.Frame] = a
	}
	if last != id && l.e.At != "kill" {
		profile, err := l.Profile(last)
		if err != nil {
			return err
		}
		stacks, err := l.SitesOf(last)
		if err != nil {
			return err
		}
		p = heapdiff.Profile{Sites: stacks, HeapProfile: profile}
		latest = heapdiff.Holders(p, nil, heapdiff.Now, l.module())
	}
	l.e.Allocators = allocatorsOf(latest, p, now)
	l.e.Half = halfOf(p, l.module())
	return nil
}

// halfOf finds the own line nearest to the allocations with half of them below it.
func halfOf(p heapdiff.Profile, module string) (best *Allocator) {
	under, all := map[sample.Frame]sample.Bytes{}, sample.Bytes(0)
	own := map[string]bool{}
	for i, s := range p.Sites[:min(len(p.Sites), len(p.Counts))] {
		bytes := amount(heapdiff.Scale(heapdiff.Now.Allocs(p.Counts[i]), s.Size, p.Rate))
		all += bytes
		seen := map[sample.Frame]bool{}
		for _, f := range framesOf(s) {
			if _, ok := own[f.Func]; !ok {
				own[f.Func] = heapdiff.OwnerOf(f.Func, module) == heapdiff.Own
			}
			if at := lineOf(f); own[f.Func] && !seen[at] {
				seen[at] = true // a function that calls itself counts once
				under[at] += bytes
			}
		}
	}
	for f, bytes := range under {
		if bytes*2 >= all && all > 0 && (best == nil || bytes < best.Bytes || bytes == best.Bytes && f.Func > best.Function) {
			best = &Allocator{Place: f.Place(), Own: true, Bytes: bytes, Share: float64(bytes) / float64(all)}
		}
	}
	return best
}

// mostAllocators bounds how many allocating lines are kept.
const mostAllocators = 20

// allocatorsOf are the lines that allocated most until the profile.
func allocatorsOf(holders []heapdiff.Holder, p heapdiff.Profile, now map[sample.Frame]Allocator) []Allocator {
	all := 0.0
	var out []Allocator
	for _, h := range holders {
		a := Allocator{Place: h.Frame.Place(), Own: h.Owner == heapdiff.Own,
			Bytes: amount(h.Alloc), Objects: h.Alloc.Objects, Since: now[h.Frame].Since, Garbage: now[h.Frame].Garbage,
			Stack: framesOf(p.Sites[h.Sites[0]]), Largest: largestMade(h, p)}
		if f := libraryFrame(a.Stack); h.Owner == heapdiff.Standard && f.Func != "" {
			a.Function, a.File, a.Line = f.Func, f.File, f.Line
		}
		all += float64(a.Bytes)
		out = append(out, a)
	}
	sorting.Stable(out, func(a, b Allocator) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for i := range out {
		out[i].Share = float64(out[i].Bytes) / max(1, all)
	}
	return out[:min(len(out), mostAllocators)]
}

// largestMade is the size of the largest object that a line allocated.
func largestMade(h heapdiff.Holder, p heapdiff.Profile) (size sample.Bytes) {
	for _, i := range h.Sites {
		if i < len(p.Counts) && heapdiff.Now.Allocs(p.Counts[i]) > 0 {
			size = max(size, p.Sites[i].Size)
		}
	}
	return size
}
