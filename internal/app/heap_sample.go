package app

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/measure/heapgraph"
	"github.com/highwater-go/highwater/internal/words/units"
)

// heapSample says how a sample was chosen.
type heapSample struct {
	Objects uint64 `json:"objects"`           // that were read
	Missed  uint64 `json:"missed_kind_bytes"` // of kinds of objects most of which were not met
}

// sampled takes in how far the figures of a sample may be off.
func (ans *heapAnswer) sampled(a *heapgraph.Analysis) {
	spread := a.Spread()
	if spread == nil {
		return
	}
	ans.Sample = &heapSample{Objects: a.Objects.Thinned().Kept, Missed: spread.Rough}
	paths, types := spread.Paths(), spread.Types()
	for i := range ans.Holders {
		err := paths[ans.Holders[i].Path]
		ans.Holders[i].Error = &err
	}
	for i := range ans.Types {
		err := types[ans.Types[i].Type]
		ans.Types[i].Error = &err
	}
	ans.Gaps = append(ans.Gaps, heapGap{"chains", "a sample has only pieces of them"})
	if spread.Rough*20 > ans.LiveBytes {
		ans.Gaps = append(ans.Gaps,
			heapGap{"where some objects are",
				fmt.Sprintf("%s are of kinds that the sample has mostly missed, as the nodes of a long list: they count where all of their kind are retained",
					units.Size(spread.Rough))})
	}
}

// line says what was read.
func (s *heapSample) line(all uint64) string {
	return fmt.Sprintf("  sampled %s of %s objects; ± is twice the standard error", count(s.Objects), count(all))
}

// off is how far a figure may be off, behind it; "" if that is known.
func off(err *uint64) string {
	if err == nil {
		return ""
	}
	return " ±" + units.Size(*err)
}
