package heapgraph

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
)

// withRegisters stops the program and analyses its heap as if all registers of all its
// threads held these words.
func (p *shaped) withRegisters(t *testing.T, words []uint64) *Analysis {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	plan, err := p.heap.PlanHeapCopy(0)
	must(err)
	var copied *goheap.HeapCopy
	var threads []goheap.Thread
	_, err = lastbreath.WhileFrozen(p.pid, time.Minute, func(ctx context.Context, z *lastbreath.Freeze) (err error) {
		for _, th := range z.Threads {
			threads = append(threads, goheap.Thread{TID: th.TID, PC: th.PC, SP: th.SP, Words: words})
		}
		copied, err = plan.Copy(ctx)
		return err
	})
	must(err)
	o, err := copied.Graph(t.Context(), nil, threads)
	must(err)
	a, err := Analyze(t.Context(), o)
	must(err)
	return a
}

// seldom is how often a test looks whose program does at most moments, but not at all,
// what it is to be seen at.
const seldom = 20

func TestARegisterHoldsSomethingOnlyWhereItsThreadRunsAGoroutine(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, version := range toolchains {
		t.Run(version, func(t *testing.T) {
			p := startStacks(t, hwtest.BuildOptions{Toolchain: version, Strip: true})
			running := false // one goroutine does, or was just interrupted
			for n := 0; n < seldom && !running; n++ {
				a := p.withRegisters(t, []uint64{p.Dead})
				_, live := p.bySize(t, a)
				path := live[p.Shapes]
				if running = path != ""; running && !(strings.HasPrefix(path, "goroutine main.") && strings.HasSuffix(path, " in its registers")) {
					t.Errorf("what registers point to lies at %q", path)
				}
			}
			if !running {
				t.Error("no register of a running goroutine holds what it points to")
			}
		})
	}
}

func TestThreadsWithoutAGoroutineHoldNothing(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	const n = 1000
	for _, version := range toolchains {
		t.Run(version, func(t *testing.T) {
			p := startShape(t, hwtest.BuildOptions{Toolchain: version, Strip: true}, "blocked", n)
			before := p.analyze(t)
			var all []uint64
			for id := range uint32(before.Objects.Count) {
				all = append(all, before.Objects.Address(id))
			}
			path := ""
			for range seldom { // the runtime has goroutines of its own that run now and then
				a := p.withRegisters(t, all)
				h := a.Holders()
				if len(h) == 0 {
					t.Fatal("no holders")
				}
				if path = h[0].Path; strings.HasPrefix(path, "goroutine main.") && h[0].Retained == before.Holders()[0].Retained {
					return
				}
			}
			t.Errorf("the largest holder is %s, was %s", path, before.Holders()[0].Path)
		})
	}
}
