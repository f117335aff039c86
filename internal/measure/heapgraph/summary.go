package heapgraph

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// A summary keeps a path that holds this share of all, so many of them and of
// everything else at most.
const (
	partKept  = 2000
	mostPaths = 1000
	mostRows  = 100
	mostSites = 10
	// mostLines are the lines of the whole heap.
	mostLines = 40
)

// Sites says where a sampled object was allocated.
type Sites struct {
	Rate int64 // bytes a sample, of the heap profile
	// At is the line that a bucket stands for, and the size of its objects.
	At func(bucket uint64) (at sample.Frame, size sample.Bytes, ok bool)
}

// Summarize is what a recording keeps of a heap. Sites without At leave out where
// objects were allocated. The lists of the program's capture before tell what has left its linked lists
// since, and become those of this one; nil: nobody compares captures.
func (a *Analysis) Summarize(ctx context.Context, sites Sites, lists *Lists) (*sample.HeapCapture, error) {
	c := &sample.HeapCapture{
		Objects: uint64(a.Objects.Count), Bytes: sample.Bytes(a.Objects.Bytes),
		LiveObjects: a.Live, LiveBytes: sample.Bytes(a.LiveSize), Ages: true,
	}
	for _, t := range a.TypesByBytes() {
		if t.Type == "?" {
			c.Untyped = sample.Bytes(t.Bytes)
		}
		if len(c.Types) < mostRows {
			c.Types = append(c.Types, sample.HeapType{Type: t.Type, Objects: t.Objects, Bytes: sample.Bytes(t.Bytes), Inferred: sample.Bytes(t.Inferred)})
		}
	}
	holders := a.Holders()
	owners := a.owners()
	if lists != nil {
		*lists, owners.left = a.listsOf(*lists)
	}
	var of [][]sample.HeapSite
	of, c.Lines = a.sitesOf(holders, sites)
	a.keepPaths(c, holders, of, owners)
	c.Collections, c.Callbacks = a.collections(owners), a.callbacks()
	if th := a.Objects.Thinned(); th != nil {
		c.Objects = th.Objects
		return c, nil // of a chain, a sample has pieces
	}
	chains, err := a.Chains(ctx)
	for _, l := range chains[:min(len(chains), mostRows)] {
		c.Chains = append(c.Chains, sample.HeapChain(l))
	}
	return c, err
}

// keepPaths keeps the paths that hold most, and all holders with those above them.
func (a *Analysis) keepPaths(c *sample.HeapCapture, holders []Holder, sites [][]sample.HeapSite, owners *owners) {
	kept := a.largestPaths()
	of := make(map[uint32]int, len(holders))
	for i, h := range holders {
		of[h.at] = i
		for at := h.at; at != 0; at = a.paths[at].parent {
			kept[at] = true
		}
	}
	index, roots := map[uint32]int{0: -1}, a.rootNamer()
	for i := uint32(1); int(i) < len(a.paths); i++ {
		if !kept[i] {
			continue
		}
		p := &a.paths[i]
		path := sample.HeapPath{Parent: index[p.parent], Label: a.labelOf(i), Type: a.Objects.Types.Name(p.typ),
			Objects: p.objects, Bytes: sample.Bytes(p.bytes), Held: p.held, Retained: sample.Bytes(p.retains), Young: sample.Bytes(p.young)}
		if p.parent == 0 {
			path.Root = roots.of(i)
		}
		if h, ok := of[i]; ok {
			path.Holder, path.Sites, path.Owner = true, sites[h], owners.of(i)
		}
		index[i] = len(c.Paths)
		c.Paths = append(c.Paths, path)
	}
}

// largestPaths are those that retain most. What retains much lies below what
// retains as much, so that they are a tree.
func (a *Analysis) largestPaths() map[uint32]bool {
	var all []uint32
	for i := 1; i < len(a.paths); i++ {
		if a.paths[i].retains*partKept >= a.LiveSize {
			all = append(all, uint32(i))
		}
	}
	slices.SortStableFunc(all, func(x, y uint32) int { return cmp.Compare(a.paths[y].retains, a.paths[x].retains) })
	kept := make(map[uint32]bool)
	for _, i := range all[:min(len(all), mostPaths)] {
		for ; i != 0; i = a.paths[i].parent {
			kept[i] = true
		}
	}
	return kept
}

// labelOf is the part that a path adds to its text.
func (a *Analysis) labelOf(at uint32) string {
	p := &a.paths[at]
	label := a.Objects.Types.Label(p.label)
	if strings.HasSuffix(label, ": ") { // held from several places, none a root
		label += a.Objects.Types.Name(p.typ)
	}
	return label
}

// sitesOf sums the sampled objects of each holder, and all that can be reached, by the line that
// allocated them.
func (a *Analysis) sitesOf(holders []Holder, sites Sites) (of [][]sample.HeapSite, all []sample.HeapSite) {
	of = make([][]sample.HeapSite, len(holders))
	if sites.At == nil {
		return of, nil
	}
	sums, total := make([]lineSums, len(holders)), lineSums{}
	a.Sampled(holders, func(holder int, s goheap.Sample) {
		at, size, ok := sites.At(s.Bucket)
		if !ok {
			return
		}
		n := standsFor(float64(size), float64(sites.Rate)) * float64(a.Objects.Stands(s.Object))
		total.add(at, n, n*float64(size))
		if holder < 0 {
			return
		}
		if sums[holder] == nil {
			sums[holder] = lineSums{}
		}
		sums[holder].add(at, n, n*float64(size))
	})
	for i, m := range sums {
		of[i] = m.largest(mostSites)
	}
	return of, total.largest(mostLines)
}

// lineSums are objects and bytes by the line that allocated them: estimates.
type lineSums map[sample.Frame]struct{ objects, bytes float64 }

func (m lineSums) add(at sample.Frame, objects, bytes float64) {
	was := m[at]
	was.objects, was.bytes = was.objects+objects, was.bytes+bytes
	m[at] = was
}

// largest are the n lines with most bytes, most first.
func (m lineSums) largest(n int) (list []sample.HeapSite) {
	for at, was := range m {
		list = append(list, sample.HeapSite{At: at, Objects: uint64(math.Round(was.objects)), Bytes: sample.Bytes(was.bytes)})
	}
	slices.SortFunc(list, func(x, y sample.HeapSite) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.At.Func, y.At.Func), cmp.Compare(x.At.Line, y.At.Line))
	})
	return list[:min(len(list), n)]
}

// standsFor is how many objects one sampled object of that size stands for
// (runtime/pprof, scaleHeapSample).
func standsFor(size, rate float64) float64 {
	if rate <= 1 {
		return 1
	}
	return 1 / (1 - math.Exp(-size/rate))
}
