package heapgraph

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// thin samples the heap and finds who holds it.
func (p *shaped) thin(t testing.TB, most int) *Analysis {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	plan, err := p.heap.PlanThinnedCopy(0, most)
	must(err)
	var copied *goheap.HeapCopy
	var threads []goheap.Thread
	_, err = lastbreath.WhileFrozen(p.pid, time.Minute, func(ctx context.Context, z *lastbreath.Freeze) (err error) {
		for _, th := range z.Threads {
			threads = append(threads, goheap.Thread(th))
		}
		copied, err = plan.Copy(ctx)
		return err
	})
	must(err)
	ranges, err := p.heap.VariableRanges()
	must(err)
	variables, err := p.bin.Variables(ranges)
	must(err)
	o, err := copied.Graph(t.Context(), variables, threads)
	must(err)
	a, err := Analyze(t.Context(), o)
	must(err)
	return a
}

// TestASampleOfEveryShapeFindsWhatAllOfItWouldFind compares a sample of a fraction of the objects
// with all of them: what is live, and what the shape's holder retains. A sample may leave open who
// retains something, and never gives a holder what it does not retain.
func TestASampleOfEveryShapeFindsWhatAllOfItWouldFind(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			n := 30_000
			if s.name == "blocked" {
				n = 3000 // all goroutines are kept
			}
			p := startShape(t, hwtest.BuildOptions{Toolchain: "go1.26.8"}, s.name, n)
			whole, part := p.analyze(t), p.thin(t, 8000)
			spread := part.Spread()
			if kept := part.Objects.Thinned().Kept; s.name != "intmap" && s.name != "blocked" && kept*5 > whole.Live {
				t.Errorf("%d of %d objects were kept", kept, whole.Live)
			}
			if got, want := part.LiveSize, whole.LiveSize; got > want+want/20 || got < want-want/20 { // a sample of a quarter, of objects of many sizes
				t.Errorf("%d bytes are live, of all objects %d", got, want)
			}
			got, want, err := part.below(s.holder), whole.below(s.holder), spread.below(s.holder)
			if strings.HasPrefix(s.root, "main.") {
				_, got = part.Root(s.root)
				_, want = whole.Root(s.root)
				err = spread.Paths()[s.root]
			}
			if err += want / 30; got > want+err || got+err < want/100*75 {
				t.Errorf("%s retains %d bytes, within %d, of all objects %d", s.holder, got, err, want)
			}
		})
	}
}

// below is what all holders retain whose paths begin so.
func (a *Analysis) below(prefix string) (sum uint64) {
	for _, h := range a.Holders() {
		if strings.HasPrefix(h.Path, prefix) {
			sum += h.Retained
		}
	}
	return sum
}

// below is how far that may be off.
func (s *Spread) below(prefix string) (sum uint64) {
	all := s.Paths()
	for _, h := range s.a.Holders() {
		if strings.HasPrefix(h.Path, prefix) {
			sum += all[h.Path]
		}
	}
	return sum
}

// TestTheErrorOfASampleHoldsTheTruth takes many samples of heaps in which two retain objects of one
// shape.
func TestTheErrorOfASampleHoldsTheTruth(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	const times = 20
	for _, s := range []struct{ shape, holder string }{{"lru", "main.recent….value"}, {"map", "main.cache.entries[].body"}, {"twocaches", "main.small"},
		{"twocaches", "main.large"}} {
		t.Run(s.shape+"/"+s.holder, func(t *testing.T) {
			p := startShape(t, hwtest.BuildOptions{Toolchain: "go1.26.8"}, s.shape, 30_000)
			want, within, errs := p.analyze(t).below(s.holder), 0, []uint64(nil)
			for range times {
				a := p.thin(t, 4000)
				got, err := a.below(s.holder), a.Spread().below(s.holder)
				if off := max(got, want) - min(got, want); off <= err+want/1000 {
					within++
				}
				errs = append(errs, err)
			}
			if within < times*7/10 { // 19 are expected, and one test in a hundred may have 15
				t.Errorf("%d of %d samples had %d bytes within their error", within, times, want)
			}
			if slices.Sort(errs); errs[times/2] > 3*want/4 { // of so few objects, the tables of a small map are a handful
				t.Errorf("half of the samples are within %d bytes of %d", errs[times/2], want)
			}
		})
	}
}

// TestAHeapThatIsTooLargeForItsLimitIsSampledWithinIt asks a limit that refuses all objects.
func TestAHeapThatIsTooLargeForItsLimitIsSampledWithinIt(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	p := startShape(t, hwtest.BuildOptions{Toolchain: "go1.26.8"}, "tree", 600_000)
	const limit = 12 * sample.MiB
	if _, err := p.heap.PlanHeapCopy(limit); !errors.Is(err, gomem.ErrTooLarge) {
		t.Errorf("the plan of a whole copy: %v", err)
	}
	if _, err := p.heap.PlanThinnedCopy(limit, 2000); err != nil {
		t.Errorf("the plan of a sample: %v", err)
	}
	if _, err := p.heap.PlanThinnedCopy(sample.MiB, 2000); !errors.Is(err, gomem.ErrTooLarge) {
		t.Errorf("the plan of a sample within 1 MiB: %v", err)
	}
}
