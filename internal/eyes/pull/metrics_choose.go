package pull

import (
	"cmp"
	"math"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Chooser decides which of a program's figures are worth keeping: those that
// move, no more than Most in all. Its zero value keeps none.
type Chooser struct {
	Most int

	first map[string]sample.Figure // as it was first seen, of those that have not moved
	last  map[string]sample.Figure
	kept  map[string]bool
	left  map[string]bool // moved when there was no more room
}

// maxFamilies bounds what is remembered of figures that are not kept.
const maxFamilies = 10_000

// Choose takes one answer of the program and returns what of it is to be kept:
// the figures chosen before, and those that are chosen now, as they were at first
// and last before they moved, and as they are. Names are those chosen now. Of many
// that move at once counters come first, and of these the fastest.
func (c *Chooser) Choose(now []sample.Figure) (keep []sample.Figure, names []string) {
	if c.first == nil {
		c.first, c.last, c.kept, c.left = map[string]sample.Figure{}, map[string]sample.Figure{}, map[string]bool{}, map[string]bool{}
	}
	var moved []sample.Figure
	for _, f := range now {
		before, seen := c.last[f.Name]
		switch {
		case c.kept[f.Name]:
			keep = append(keep, f)
		case seen && before.Value != f.Value:
			moved = append(moved, f)
		case !seen && len(c.last) < maxFamilies:
			c.first[f.Name], c.last[f.Name] = f, f
		case seen:
			c.last[f.Name] = f
		}
	}
	slices.SortFunc(moved, c.better)
	for _, f := range moved {
		if len(c.kept) == c.Most {
			c.left[f.Name] = true
			c.last[f.Name] = f
			continue
		}
		c.kept[f.Name] = true
		names = append(names, f.Name)
		keep = append(keep, c.past(f.Name)...)
		keep = append(keep, f)
		delete(c.first, f.Name)
		delete(c.last, f.Name)
	}
	slices.SortStableFunc(keep, func(a, b sample.Figure) int { return a.At.Compare(b.At) })
	return keep, names
}

// past are the first and the last reading of a figure that stood still.
func (c *Chooser) past(name string) []sample.Figure {
	first, last := c.first[name], c.last[name]
	if first.At.Equal(last.At) {
		return []sample.Figure{first}
	}
	return []sample.Figure{first, last}
}

// better orders figures that moved: counters first, then by how far.
func (c *Chooser) better(a, b sample.Figure) int {
	if a.Kind != b.Kind {
		return cmp.Compare(a.Kind, b.Kind) // "counter" comes before "gauge"
	}
	far := func(f sample.Figure) float64 { return math.Abs(f.Value - c.last[f.Name].Value) }
	return cmp.Or(cmp.Compare(far(b), far(a)), cmp.Compare(a.Name, b.Name))
}

// Left is how many figures moved that were not kept, as there was no room.
func (c *Chooser) Left() int { return len(c.left) }
