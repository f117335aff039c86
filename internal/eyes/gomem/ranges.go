package gomem

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// attachRanges readies Ranges.
func (r *Runtime) attachRanges(_ *Runtime, find *Resolver) error {
	if err := r.spans.attach(r, find); err != nil {
		return err
	}
	return r.tables.attach(r, find)
}

// Ranges appends what the addresses of the Go runtime hold to dst, sorted by
// address; ranges of one kind do not overlap. They are address ranges, not
// resident memory: the caller intersects them with the pages that are there.
//
// Tables in the program's own data and bss are not among them, nor are thread
// stacks that C made.
func (r *Runtime) Ranges(dst []sample.PageRange) ([]sample.PageRange, error) {
	if err := r.why[FeatureRanges]; err != nil {
		return dst, err
	}
	sweepgen, err := r.spans.Generation(r.mem)
	if err != nil {
		return dst, err
	}
	from := len(dst)
	err = r.spans.Read(r.mem, func(s MSpan) {
		dst = append(dst, sample.PageRange{Start: s.Start, End: s.End, Kind: s.kind(sweepgen)})
	})
	dst, tablesErr := r.tables.append(dst, r.mem)
	if err := errors.Join(err, tablesErr); err != nil {
		return dst[:from], fmt.Errorf("memory ranges: %w", err)
	}
	return dst[:from+len(join(dst[from:]))], nil
}

// join sorts ranges and joins those of one kind that touch or overlap, in
// place.
func join(ranges []sample.PageRange) []sample.PageRange {
	slices.SortFunc(ranges, func(a, b sample.PageRange) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Start, b.Start))
	})
	out := ranges[:0]
	for _, r := range ranges {
		if k := len(out) - 1; k >= 0 && out[k].Kind == r.Kind && r.Start <= out[k].End {
			out[k].End = max(out[k].End, r.End)
			continue
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b sample.PageRange) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}
