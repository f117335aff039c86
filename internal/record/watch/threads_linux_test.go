package watch

import (
	"os/exec"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestAProgramOfThousandsOfThreadsIsReadAsAnyOther(t *testing.T) {
	t.Parallel()
	const many, size = 3000, 64 << 20
	p := hwtest.StartPiped(t, exec.Command(hwtest.Build(t, "../../eyes/gomem/testdata/target", hwtest.BuildOptions{})))
	p.Ask("threads %d", many)
	p.Ask("big %d", size) // sampled but for one in e^128
	p.Ask("gc")
	if threads, err := procfs.Threads("/proc", p.PID); err != nil || len(threads) < many {
		t.Fatalf("%d threads, %v", len(threads), err)
	}
	a := attachTo(t, p.PID, Options{}, nil)
	k := &kept{}
	a.watch(t, k.atPoint(t, hasFigures), k)
	key := k.programs[0].Key
	if traced := len(tracers(t, p.PID)); traced != 1 {
		t.Errorf("%d of its threads are traced", traced)
	}
	last := k.moments[len(k.moments)-1].Processes[0]
	if last.Profile == nil || last.Go == nil {
		t.Fatalf("its moment %+v; gaps:\n%s", last, k.gapText())
	}
	big := uint64(0)
	for i, c := range last.Profile.Counts {
		if k.sites[key][i].Size == size {
			big += c.NowAllocs - c.NowFrees
		}
	}
	if big != 1 || last.Go.HeapLive < size {
		t.Errorf("%d objects of 64 MiB in the profile, %d bytes live", big, last.Go.HeapLive)
	}
	if n := waitingIn(last.Goroutines, "main.waitInThread"); n != many {
		t.Errorf("%d goroutines wait in threads of their own, want %d; gaps:\n%s", n, many, k.gapText())
	}
}

// waitingIn counts the goroutines that wait in a function.
func waitingIn(groups []sample.GoroutineGroup, function string) (n int) {
	for _, g := range groups {
		for _, l := range g.Where {
			for _, f := range l.Frames {
				if f.Func == function && g.State == "waiting" {
					n += g.Count
				}
			}
		}
	}
	return n
}
