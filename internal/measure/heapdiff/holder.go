package heapdiff

import (
	"cmp"
	"math"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Profile is a heap profile with the sites that its counts belong to, number by
// number; counts without a site are passed over.
type Profile struct {
	Sites []sample.Site
	*sample.HeapProfile
}

// count is the sites that have counts.
func (p Profile) count() int { return min(len(p.Sites), len(p.Counts)) }

// Holder is one line of code and what it holds: all sites whose blame it is.
type Holder struct {
	Blamed // Allocates is that of the site with most bytes
	InUse  Amount
	// Error is the standard error of InUse.Bytes: those of the sites, which are
	// sampled independently, add in quadrature.
	Error float64
	// Growth is InUse less what was held in the earlier profile.
	Growth Amount
	// Alloc is allocated since the program's start, Since the part of it that is
	// not published yet.
	Alloc, Since Amount
	// Samples is the number of sampled objects behind InUse.
	Samples int64
	// Sites are the numbers of its sites, those with most bytes first.
	Sites []int
}

// line identifies a Holder.
type line struct {
	function, file string
	number         int
}

// Holders groups a profile's sites by the line to blame, most bytes in use first: the caller's in place of a
// helper's (see skipHelpers).
// The earlier profile may be nil: then everything has grown from nothing.
func Holders(p Profile, earlier *sample.HeapProfile, v View, module string) []Holder {
	owners := map[string]Owner{} // few functions are on many stacks
	ownerOf := func(function string) Owner {
		o, ok := owners[function]
		if !ok {
			o = OwnerOf(function, module)
			owners[function] = o
		}
		return o
	}
	index := map[line]int{}
	var list []Holder
	var greatest []int // the site with most bytes of each
	bytes, blames := make([]int64, p.count()), make([]Blamed, p.count())
	for i := range blames {
		blames[i] = blame(p.Sites[i], ownerOf)
	}
	skipHelpers(blames, p, earlier, v, ownerOf)
	for i, c := range p.Counts[:p.count()] {
		s, b := p.Sites[i], blames[i]
		key := line{b.Frame.Func, b.Frame.File, b.Frame.Line}
		at, ok := index[key]
		if !ok {
			at = len(list)
			index[key] = at
			list = append(list, Holder{})
			greatest = append(greatest, i)
		}
		h := &list[at]
		held := Scale(v.InUse(c), s.Size, p.Rate)
		bytes[i] = held.Bytes
		if len(h.Sites) == 0 || held.Bytes > bytes[greatest[at]] {
			h.Blamed = b
			greatest[at] = i
		}
		h.InUse = h.InUse.Add(held)
		h.Error = math.Hypot(h.Error, Error(v.InUse(c), s.Size, p.Rate))
		h.Growth = h.Growth.Add(Growth(earlier, p.HeapProfile, i, s.Size, v))
		h.Alloc = h.Alloc.Add(Scale(v.Allocs(c), s.Size, p.Rate))
		h.Since = h.Since.Add(Scale(Since(c), s.Size, p.Rate))
		h.Samples += v.InUse(c)
		h.Sites = append(h.Sites, i)
	}
	for i := range list {
		sortBy(list[i].Sites, func(site int) int64 { return bytes[site] })
	}
	sortBy(list, func(h Holder) int64 { return h.InUse.Bytes })
	return list
}

// sortBy sorts by a figure, greatest first, and keeps the order of equal ones.
func sortBy[T any](list []T, figure func(T) int64) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(figure(b), figure(a)) })
}

// Total is the sum of the holders, with its standard error in bytes.
func Total(list []Holder) (sum Amount, err float64) {
	for _, h := range list {
		sum = sum.Add(h.InUse)
		err = math.Hypot(err, h.Error)
	}
	return sum, err
}
