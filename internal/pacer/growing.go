package pacer

import (
	"cmp"
	"math"
	"slices"
	"sort"
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
// that grow are copied at once; 0 where none does. Each was copied, with both its arrays
// live: that is certain. How many stand beside each other is what the knots
// around need at least: the most that one found, less what is no such buffer, in widest
// buffers. No knot may have found them all at their widest; another setting's collection
// may.
func (l *liveness) widestOf(h *History) {
	l.widest = make([]float64, len(l.knots))
	widths := make([][]float64, len(l.knots)) // of the buffers copied in a stretch, greatest first
	for i := range len(l.knots) - 1 {
		widths[i] = widthsIn(h.large, l.knots[i].clock, l.knots[i+1].clock)
	}
	for i := range len(l.knots) - 1 {
		if len(widths[i]) == 0 {
			continue
		}
		rest, most, width := math.Inf(1), 0.0, 0.0
		for j := max(0, i-around); j <= min(len(l.knots)-1, i+1+around); j++ {
			if j > 0 { // the first is no mark
				rest, most = min(rest, max(0, l.knots[j].live-h.growingAt(l.knots[j].clock))), max(most, l.knots[j].live)
			}
			if len(widths[j]) > 0 {
				width = max(width, widths[j][0])
			}
		}
		l.widest[i], l.grows = rest, true
		n := max(1, int(math.Ceil((most-rest)/width-almost)))
		for _, w := range widths[i][:min(n, len(widths[i]))] {
			l.widest[i] += w
		}
	}
}

// mostBeside bounds how many buffers of one size are taken to stand beside each other.
const mostBeside = 100

// widthsIn are the widths of the buffers that were copied in a stretch of the clock, as
// many as are likely: profiles lie far apart, and where in between an array was allocated
// is open.
func widthsIn(list []large, from, to float64) (widths []float64) {
	likely := map[float64]float64{}
	for _, g := range list {
		if g.copied > 0 && g.from < to && g.to > from {
			share := (min(to, g.to) - max(from, g.from)) / (g.to - g.from)
			likely[g.size+g.copied] += share * g.bytes / g.size
		}
	}
	for width, n := range likely {
		for range min(mostBeside, int(math.Round(n))) {
			widths = append(widths, width)
		}
	}
	slices.SortFunc(widths, func(a, b float64) int { return cmp.Compare(b, a) })
	return widths
}

// growingAt is how much the arrays of growing buffers may be of what a mark at clock a
// found: as far as the next profile tells, all that was not freed by then.
func (h *History) growingAt(a float64) float64 {
	i := sort.Search(len(h.growing), func(i int) bool { return h.growing[i].clock >= a })
	if len(h.growing) == 0 {
		return 0
	}
	return h.growing[min(i, len(h.growing)-1)].v
}

// noteGrowing notes the arrays that a profile knows and that were not freed.
func (h *History) noteGrowing(sites []sample.Site, copied []float64, p *sample.HeapProfile, clock float64) {
	sum := 0.0
	for i, c := range p.Counts {
		if i < len(copied) && copied[i] > 0 && c.NowAllocs > c.NowFrees {
			sum += float64(c.NowAllocs-c.NowFrees) * float64(sites[i].Size)
		}
	}
	h.growing = append(h.growing, at{clock, sum})
}
