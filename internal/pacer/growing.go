package pacer

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/sample"
)

// What a buffer grows by: append by a quarter at least (runtime.nextslicecap),
// bytes.Buffer to twice its size and what is to be written.
const growsLeast, growsMost = 1.2, 2.6

// grownSteps is how many times a stack must have allocated a larger array before that
// is taken for a buffer that grows.
const grownSteps = 3

// copiedOf finds buffers that grow by copying: for each site the size of the array that
// is copied into the one which it allocates, 0 if there is none. While it is copied both
// are live. Such a buffer's arrays have one stack, each some times as large as the one
// before and no more often allocated. Sites of many sizes that lie close together are
// bodies of many sizes, and none.
func copiedOf(sites []sample.Site, counts []sample.BucketCounts) []float64 {
	copied := make([]float64, len(sites))
	stacks := map[string][]int{}
	for i, s := range sites {
		if s.Size >= fromLarge && i < len(counts) && counts[i].NowAllocs > 0 {
			key := stackKey(s.Stack)
			stacks[key] = append(stacks[key], i)
		}
	}
	for _, list := range stacks {
		slices.SortFunc(list, func(a, b int) int { return cmp.Compare(sites[a].Size, sites[b].Size) })
		if !grows(list, sites, counts) {
			continue
		}
		for n := 1; n < len(list); n++ {
			copied[list[n]] = float64(sites[list[n-1]].Size)
		}
	}
	return copied
}

func grows(list []int, sites []sample.Site, counts []sample.BucketCounts) bool {
	for n := 1; n < len(list); n++ {
		by := float64(sites[list[n]].Size) / float64(sites[list[n-1]].Size)
		smaller, larger := counts[list[n-1]].NowAllocs, counts[list[n]].NowAllocs
		// One in seven objects of 1 MiB is not sampled.
		if by < growsLeast || by > growsMost || larger > smaller+smaller/4+1 {
			return false
		}
	}
	return len(list) > grownSteps
}

func stackKey(stack []sample.Location) string {
	var b strings.Builder
	for _, l := range stack {
		b.WriteString(strconv.FormatUint(l.Address, 36))
		b.WriteByte(' ')
	}
	return b.String()
}

// almost is how far from a multiple what was found may be, as a share of one buffer.
const almost = 0.1

// widestOf is, for the stretch after each knot, what would be live where all buffers
// that grow are copied at once; 0 where none does. That one of them was copied in the
// stretch is certain, with both its arrays live. How many stand beside each other is what
// the knots around need at least: most live above least, in widest buffers. No knot may
// have found them all at their widest; another setting's collection may.
func (l *liveness) widestOf(list []large) {
	l.widest = make([]float64, len(l.knots))
	one := make([]float64, len(l.knots)) // widest buffer that was copied in a stretch
	for _, g := range list {
		if g.copied == 0 {
			continue
		}
		for i := range len(l.knots) - 1 {
			if g.from < l.knots[i+1].clock && g.to > l.knots[i].clock {
				one[i] = max(one[i], g.size+g.copied)
			}
		}
	}
	for i := range len(l.knots) - 1 {
		if one[i] == 0 {
			continue
		}
		least, most, width := math.Inf(1), 0.0, 0.0
		for j := max(0, i-around); j <= min(len(l.knots)-1, i+1+around); j++ {
			if j > 0 { // the first is no mark
				least, most = min(least, l.knots[j].live), max(most, l.knots[j].live)
			}
			width = max(width, one[j])
		}
		n := max(1, math.Ceil((most-least)/width-almost))
		l.widest[i], l.grows = least+n*one[i], true
	}
}
