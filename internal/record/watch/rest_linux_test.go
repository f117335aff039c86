package watch

import (
	"context"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// sleeper is one program that rests, wakes and is killed by its limit.
type sleeper struct {
	kept
	rested  chan struct{} // closed at its first look at rest
	woken   bool
	onClimb int // points between its waking and its death
	least   sample.Bytes
}

func (s *sleeper) note(p *sample.Point) {
	switch {
	case p.Resting && !s.woken:
		s.woken, s.least = true, p.Cgroup.Usage
		close(s.rested)
	case s.woken && p.Cgroup != nil && p.Cgroup.Usage > s.least+8*sample.MiB:
		s.onClimb++
	}
}

// live starts it, wakes it once it rests, and follows it to its end.
func (s *sleeper) live(t *testing.T, g *cgroup.Cgroup, path string) {
	source, err := New(Options{Group: g, HeapProfile: true})
	if err != nil {
		t.Error(err)
		return
	}
	defer source.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer null.Close()
	pid, err := source.Start(Command{Path: path, Args: []string{path}, Files: []*os.File{null, null, null}, OwnGroup: true})
	if err != nil {
		t.Error(err)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	go func() {
		select {
		case <-s.rested:
			_ = syscall.Kill(pid, syscall.SIGUSR1)
		case <-ctx.Done():
		}
	}()
	s.onPoint = s.note
	if err := (&capture.Loop{Source: source, Sink: &s.kept}).Run(ctx); err != nil {
		t.Error(err)
	}
	if ctx.Err() != nil {
		source.Kill()
		t.Error("it did not come to its limit within two minutes")
	}
}

// A program that rests is looked at once a second. One that wakes and fills its limit within
// 300 ms is held at its death all the same, with its last figures; and where the kernel tells
// of growth, version 1, it is looked at on its way there.
func TestADeathAfterARestIsHeldWithItsLastFigures(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace, hwtest.Cgroup)
	const all, limit = 20, 64 * sample.MiB
	path := hwtest.Build(t, "testdata/wakes", hwtest.BuildOptions{})
	climbs := 0
	var mu sync.Mutex
	var lives sync.WaitGroup
	version := 0
	for range all {
		g := group(t, limit)
		version = g.Version()
		lives.Go(func() {
			s := &sleeper{rested: make(chan struct{})}
			s.live(t, g, path)
			mu.Lock()
			defer mu.Unlock()
			if s.onClimb > 0 {
				climbs++
			}
			held(t, s, limit)
		})
	}
	lives.Wait()
	if version == 1 && climbs < all/2 {
		t.Errorf("%d of %d climbs were looked at", climbs, all)
	}
	t.Logf("%d of %d climbs were looked at", climbs, all)
}

// held checks a death's figures.
func held(t *testing.T, s *sleeper, limit sample.Bytes) {
	programs := s.named("wakes")
	if len(programs) != 1 || !s.woken {
		t.Errorf("%d programs, rested %v", len(programs), s.woken)
		return
	}
	d := s.death(programs[0].Key)
	if d == nil || d.Signal != 9 || d.Go == nil || d.Resident == nil || d.Live == nil {
		t.Errorf("its death was not held whole: %+v\n%s", d, s.gapText())
		return
	}
	if d.Go.HeapInUse < limit/2 || d.Resident.Total < limit/2 {
		t.Errorf("its last figures are of %d bytes of heap, %d resident", d.Go.HeapInUse, d.Resident.Total)
	}
}
