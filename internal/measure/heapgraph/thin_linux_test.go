package heapgraph

import (
	"context"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
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
	plan, err := p.runtime.PlanThinnedCopy(0, most)
	must(err)
	var copied *gomem.HeapCopy
	var threads []gomem.Thread
	_, err = lastbreath.WhileFrozen(p.pid, time.Minute, func(ctx context.Context, z *lastbreath.Freeze) (err error) {
		for _, th := range z.Threads {
			threads = append(threads, gomem.Thread(th))
		}
		copied, err = plan.Copy(ctx)
		return err
	})
	must(err)
	ranges, err := p.runtime.VariableRanges()
	must(err)
	variables, err := p.bin.Variables(ranges)
	must(err)
	o, err := copied.Graph(t.Context(), variables, threads)
	must(err)
	a, err := Analyze(t.Context(), o)
	must(err)
	return a
}

func TestASampleOfEveryShapeFindsWhatAllOfItWouldFind(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	const n = 30_000
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			p := startShape(t, hwtest.BuildOptions{Toolchain: "go1.26.8"}, s.name, n)
			whole := p.analyze(t)
			part := p.thin(t, 2000)
			th := part.Objects.Thinned()
			t.Logf("whole %d objects %d bytes; part kept %d, %d objects %d bytes +-%d, uncovered %d rough %d", whole.Live, whole.LiveSize, th.Kept, part.Live, part.LiveSize, part.Spread().Live(), th.Uncovered, th.Rough)
			errs := part.Spread().Paths()
			for _, h := range whole.Holders()[:min(3, len(whole.Holders()))] {
				t.Logf("  whole %s %d %d", h.Path, h.Retained, h.Objects)
			}
			for _, h := range part.Holders()[:min(3, len(part.Holders()))] {
				t.Logf("  part  %s %d +- %d %d", h.Path, h.Retained, errs[h.Path], h.Objects)
			}
		})
	}
}
