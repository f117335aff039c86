package recording

import (
	"math"
	"slices"
	"testing"
)

// A handle that names nothing would be an error of every reader of an old recording.
func TestEveryHandleNamesColumnsOfItsTable(t *testing.T) {
	for table, handles := range map[*table][]Column{
		&tableSample: {ColUsage, ColPeak, ColUsageLimit, ColAnon, ColPageCache, ColShmem, ColKernel, ColMajorFaults, ColRefaults, ColEventsMax,
			ColEventsOOMKill, ColPressureSome10, ColPressureSomeTotal, ColPressureFullTotal, ColHostAvailable, ColUnchanged, ColCommitted},
		&tableProcessSample: {ColResident, ColShared, ColUserTime, ColSystemTime, ColGOGC, ColMemoryLimit, ColHeapLive, ColHeapMarked, ColHeapGoal, ColGCTrigger,
			ColTotalAlloc, ColTotalFree, ColHeapInUse, ColHeapFree, ColMappedReady, ColNumGC, ColNumForcedGC, ColGCPhase, ColGCAssistTime, ColGCDedicatedTime,
			ColGCPauseTime, ColCPUTotal, ColGCCPUFraction, ColGoroutines, ColAnonymous},
	} {
		for _, c := range handles {
			for _, name := range c.columns() {
				if !slices.Contains(table.columns, name) {
					t.Errorf("%s has no column %q", table.name, name)
				}
			}
		}
	}
}

func TestADifferenceIsNotSeenWhereAPartOfItIsNot(t *testing.T) {
	w, path := create(t, meta)
	want := story(t, w, 20)
	must(t, w.Close())
	r := open(t, path)
	s, err := r.Samples(ColUsage, ColPageCache, ColCommitted)
	must(t, err)
	p, err := r.ProcessSamples(server, ColResident, ColShared, ColAnonymous)
	must(t, err)
	if s.Len() != len(want.points) || p.Len() != len(want.points) {
		t.Fatalf("%d and %d rows of %d", s.Len(), p.Len(), len(want.points))
	}
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	seen := 0
	for i := range want.points {
		if d := s.Column(ColUsage)[i] - s.Column(ColPageCache)[i]; !same(s.Column(ColCommitted)[i], d) {
			t.Errorf("row %d: %v, want %v", i, s.Column(ColCommitted)[i], d)
		}
		d := p.Column(ColResident)[i] - p.Column(ColShared)[i]
		if !same(p.Column(ColAnonymous)[i], d) {
			t.Errorf("row %d: %v, want %v", i, p.Column(ColAnonymous)[i], d)
		}
		if d > 0 {
			seen++
		}
	}
	if seen == 0 || seen == len(want.points) {
		t.Errorf("%d of %d rows have a figure: nothing was tried", seen, len(want.points))
	}
}
